import ipaddr from 'ipaddr.js'
import { describe, expect, it } from 'vitest'
import { fixedClock } from '../time/clock.ts'
import { type AddressGuard, addressGuard, GuardError } from './address-guard.ts'

/** A guard with this setting, and a resolver of fixed names. */
function buildGuard(privateTargets: string, names: Record<string, string[]> = {}, asked: string[] = []): AddressGuard {
  return addressGuard({
    privateTargets,
    clock: fixedClock(0),
    async resolve(host) {
      asked.push(host)
      const addresses = names[host]
      if (addresses === undefined) throw new Error('NXDOMAIN')
      return { addresses, ttlMs: 1000 }
    },
  })
}

async function verdict(guard: AddressGuard, host: string): Promise<string> {
  try {
    const { address } = await guard.check({ host, port: 443 })
    return address
  } catch (error) {
    return error instanceof GuardError ? error.reason : 'something else'
  }
}

/** Addresses of every block of IANA's special-purpose registries, and near it, with the settings that allow them. */
const ADDRESSES: [address: string, opened: 'public' | 'loopback' | 'all' | 'never'][] = [
  ['1.1.1.1', 'public'],
  ['9.255.255.255', 'public'],
  ['11.0.0.0', 'public'],
  ['100.63.255.255', 'public'],
  ['100.128.0.0', 'public'],
  ['172.15.255.255', 'public'],
  ['172.32.0.0', 'public'],
  ['198.17.255.255', 'public'],
  ['223.255.255.255', 'public'],
  ['127.0.0.1', 'loopback'],
  ['127.255.255.254', 'loopback'],
  ['10.0.0.1', 'all'],
  ['100.64.0.1', 'all'],
  ['172.16.0.1', 'all'],
  ['172.31.255.255', 'all'],
  ['192.0.0.1', 'all'],
  ['192.0.0.170', 'all'],
  ['192.0.2.1', 'all'],
  ['192.88.99.1', 'all'],
  ['192.168.1.1', 'all'],
  ['198.18.0.1', 'all'],
  ['198.19.255.255', 'all'],
  ['198.51.100.1', 'all'],
  ['203.0.113.1', 'all'],
  ['240.0.0.1', 'all'],
  ['0.0.0.0', 'never'],
  ['0.1.2.3', 'never'],
  ['169.254.0.1', 'never'],
  ['169.254.169.254', 'never'],
  ['224.0.0.1', 'never'],
  ['239.255.255.255', 'never'],
  ['255.255.255.255', 'never'],
  ['100.100.100.200', 'never'],
  ['168.63.129.16', 'never'],
  ['192.0.0.192', 'never'],
  ['2606:4700::1111', 'public'],
  ['2a00:1450:4001::1', 'public'],
  ['64:ff9b::101:101', 'public'],
  ['::1', 'loopback'],
  ['::ffff:127.0.0.1', 'loopback'],
  ['::ffff:7f00:1', 'loopback'],
  ['::ffff:1.1.1.1', 'public'],
  ['::ffff:10.0.0.1', 'all'],
  ['::ffff:169.254.169.254', 'never'],
  ['::127.0.0.1', 'all'],
  ['::a9fe:a9fe', 'never'],
  ['::ffff:0:10.0.0.1', 'all'],
  ['::ffff:0:169.254.169.254', 'never'],
  ['64:ff9b::10.0.0.1', 'all'],
  ['64:ff9b::169.254.169.254', 'never'],
  ['64:ff9b:1::10.0.0.1', 'all'],
  ['64:ff9b:1::a9fe:a9fe', 'never'],
  ['64:ff9b:1:a9fe:a9:fe00::', 'never'],
  ['64:ff9b:1:12a9:fe:a9fe::', 'never'],
  ['64:ff9b:1:1234:a9:fea9:fe00:0', 'never'],
  ['64:ff9b:1:0a00:0:100::', 'all'],
  ['100::1', 'all'],
  ['100:0:0:1::1', 'all'],
  ['2001::1', 'all'],
  ['2001:2::1', 'all'],
  ['2001:10::1', 'all'],
  ['2001:1ff:ffff::1', 'all'],
  ['2001:200::1', 'public'],
  ['2001:db8::1', 'all'],
  ['2002:a00:1::1', 'all'],
  ['2002:a9fe:a9fe::1', 'never'],
  ['2002:101:101::1', 'all'],
  ['3fff::1', 'all'],
  ['4000::1', 'all'],
  ['5f00::1', 'all'],
  ['2606:4700::5efe:10.0.0.1', 'all'],
  ['2606:4700::200:5efe:169.254.169.254', 'never'],
  ['fc00::1', 'all'],
  ['fd12:3456::1', 'all'],
  ['fec0::1', 'all'],
  ['fd00:ec2::254', 'never'],
  ['fd00:ec2::23', 'never'],
  ['fd20:ce::254', 'never'],
  ['fd00:42::42', 'never'],
  ['fe80::1', 'never'],
  ['febf::1', 'never'],
  ['ff02::1', 'never'],
  ['::', 'never'],
]

/**
 * IANA's two special-purpose address registries, row by row, with the name and the RFC of each entry. Globally
 * reachable ones are refused too, because no application runs at an anycast service of the network.
 */
const REGISTRIES: [block: string, entry: string][] = [
  ['0.0.0.0/8', '"This network", RFC 791'],
  ['0.0.0.0/32', '"This host on this network", RFC 1122'],
  ['10.0.0.0/8', 'Private-Use, RFC 1918'],
  ['100.64.0.0/10', 'Shared Address Space, RFC 6598'],
  ['127.0.0.0/8', 'Loopback, RFC 1122'],
  ['169.254.0.0/16', 'Link Local, RFC 3927'],
  ['172.16.0.0/12', 'Private-Use, RFC 1918'],
  ['192.0.0.0/24', 'IETF Protocol Assignments, RFC 6890'],
  ['192.0.0.0/29', 'IPv4 Service Continuity Prefix, RFC 7335'],
  ['192.0.0.8/32', 'IPv4 dummy address, RFC 7600'],
  ['192.0.0.9/32', 'Port Control Protocol Anycast, RFC 7723, globally reachable'],
  ['192.0.0.10/32', 'Traversal Using Relays around NAT Anycast, RFC 8155, globally reachable'],
  ['192.0.0.170/32', 'NAT64/DNS64 Discovery, RFC 8880'],
  ['192.0.0.171/32', 'NAT64/DNS64 Discovery, RFC 8880'],
  ['192.0.2.0/24', 'Documentation (TEST-NET-1), RFC 5737'],
  ['192.31.196.0/24', 'AS112-v4, RFC 7535, globally reachable'],
  ['192.52.193.0/24', 'AMT, RFC 7450, globally reachable'],
  ['192.88.99.0/24', 'Deprecated (6to4 Relay Anycast), RFC 7526'],
  ['192.88.99.2/32', '6a44-relay anycast address, RFC 6751'],
  ['192.168.0.0/16', 'Private-Use, RFC 1918'],
  ['192.175.48.0/24', 'Direct Delegation AS112 Service, RFC 7534, globally reachable'],
  ['198.18.0.0/15', 'Benchmarking, RFC 2544'],
  ['198.51.100.0/24', 'Documentation (TEST-NET-2), RFC 5737'],
  ['203.0.113.0/24', 'Documentation (TEST-NET-3), RFC 5737'],
  ['240.0.0.0/4', 'Reserved, RFC 1112'],
  ['255.255.255.255/32', 'Limited Broadcast, RFC 8190'],
  ['::1/128', 'Loopback Address, RFC 4291'],
  ['::/128', 'Unspecified Address, RFC 4291'],
  ['64:ff9b:1::/48', 'IPv4-IPv6 Translat., RFC 8215'],
  ['100::/64', 'Discard-Only Address Block, RFC 6666'],
  ['100:0:0:1::/64', 'Dummy IPv6 Prefix, RFC 9780'],
  ['2001::/23', 'IETF Protocol Assignments, RFC 2928'],
  ['2001::/32', 'TEREDO, RFC 4380'],
  ['2001:1::1/128', 'Port Control Protocol Anycast, RFC 7723, globally reachable'],
  ['2001:1::2/128', 'Traversal Using Relays around NAT Anycast, RFC 8155, globally reachable'],
  ['2001:1::3/128', 'DNS-SD Service Registration Protocol Anycast, RFC 9665, globally reachable'],
  ['2001:2::/48', 'Benchmarking, RFC 5180'],
  ['2001:3::/32', 'AMT, RFC 7450, globally reachable'],
  ['2001:4:112::/48', 'AS112-v6, RFC 7535, globally reachable'],
  ['2001:10::/28', 'Deprecated (previously ORCHID), RFC 4843'],
  ['2001:20::/28', 'ORCHIDv2, RFC 7343, globally reachable'],
  ['2001:30::/28', 'Drone Remote ID Protocol Entity Tags, RFC 9374, globally reachable'],
  ['2001:db8::/32', 'Documentation, RFC 3849'],
  ['2002::/16', '6to4, RFC 3056'],
  ['2620:4f:8000::/48', 'Direct Delegation AS112 Service, RFC 7534, globally reachable'],
  ['3fff::/20', 'Documentation, RFC 9637'],
  ['5f00::/16', 'Segment Routing (SRv6) SIDs, RFC 9602'],
  ['fc00::/7', 'Unique-Local, RFC 4193'],
  ['fe80::/10', 'Link-Local Unicast, RFC 4291'],
]

/** The two rows whose addresses contain an IPv4 address, which decides. */
const CONTAINS_IPV4: [block: string, entry: string][] = [
  ['::ffff:0:0/96', 'IPv4-mapped Address, RFC 4291'],
  ['64:ff9b::/96', 'IPv4-IPv6 Translat., RFC 6052, globally reachable'],
]

/** Not in these registries, but not assigned to hosts: multicast, and what RFC 4291 leaves unassigned around 2000::/3. */
const NOT_UNICAST = ['224.0.0.0/4', '::/3', '4000::/2', '8000::/1']

function findEdges(block: string): [first: string, last: string] {
  const [address, bits] = ipaddr.parseCIDR(block)
  const first = address.toByteArray()
  const last = first.map((byte, index) => byte | (0xff >> Math.min(8, Math.max(0, bits - index * 8))))
  return [ipaddr.fromByteArray(first).toString(), ipaddr.fromByteArray(last).toString()]
}

/** The addresses directly before and after a block, except those of other rows or of unassigned space. */
function findNeighbours(block: string): string[] {
  const [first, last] = findEdges(block)
  const beside = [step(first, -1n), step(last, 1n)].filter((address) => address !== undefined)
  const taken = [...REGISTRIES.map(([other]) => other), ...NOT_UNICAST].map((other) => ipaddr.parseCIDR(other))
  return beside.filter((text) => {
    const address = ipaddr.parse(text)
    return !taken.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits))
  })
}

function step(text: string, by: bigint): string | undefined {
  const bytes = ipaddr.parse(text).toByteArray()
  const bits = BigInt(bytes.length * 8)
  const next = BigInt(`0x${Buffer.from(bytes).toString('hex')}`) + by
  if (next < 0n || next >= 1n << bits) return undefined
  const hex = next.toString(16).padStart(bytes.length * 2, '0')
  return ipaddr.fromByteArray([...Buffer.from(hex, 'hex')]).toString()
}

describe('the address guard', () => {
  it.each(REGISTRIES)('refuses all of %s: %s', async (block) => {
    for (const address of findEdges(block)) expect(await verdict(buildGuard('none'), address), address).toBe('refused')
  })

  it.each(REGISTRIES)('allows the addresses next to %s: %s', async (block) => {
    for (const address of findNeighbours(block))
      expect(await verdict(buildGuard('none'), address), address).toBe(address)
  })

  it.each(CONTAINS_IPV4)('judges %s by the IPv4 address inside: %s', async (block) => {
    const prefix = block.replace(/0:0\/96$|\/96$/, '')
    for (const [inner] of REGISTRIES.filter(([text]) => !text.includes(':'))) {
      for (const address of findEdges(inner)) {
        expect(await verdict(buildGuard('none'), prefix + address), prefix + address).toBe('refused')
      }
      for (const address of findNeighbours(inner)) {
        expect(await verdict(buildGuard('none'), prefix + address), prefix + address).not.toBe('refused')
      }
    }
  })

  it('refuses IPv4-compatible and 6to4 addresses, whatever is inside', async () => {
    for (const [block] of REGISTRIES.filter(([text]) => !text.includes(':'))) {
      for (const address of [...findEdges(block), ...findNeighbours(block)]) {
        const sixToFour = `2002:${Buffer.from(ipaddr.parse(address).toByteArray())
          .toString('hex')
          .replace(/(.{4})/, '$1:')}::1`
        for (const text of [`::${address}`, sixToFour]) {
          expect(await verdict(buildGuard('none'), text), text).toBe('refused')
        }
      }
    }
  })

  it.each(ADDRESSES)('judges %s: %s', async (address, opened) => {
    const expected: Record<string, boolean> = {
      none: opened === 'public',
      loopback: opened === 'public' || opened === 'loopback',
      all: opened !== 'never',
      '0.0.0.0/0,::/0': opened !== 'never',
    }
    for (const [setting, isOpen] of Object.entries(expected)) {
      const named = buildGuard(setting, { 'a.example': [address] })
      expect((await verdict(named, 'a.example')) !== 'refused', `${setting}, by name`).toBe(isOpen)
      expect((await verdict(named, address)) !== 'refused', `${setting}, as written`).toBe(isOpen)
    }
  })

  const SPELLINGS = ['127.1', '0x7f.1', '0x7f000001', '2130706433', '017700000001', '0177.0.0.1', '127.0.0.1.', '[::1]']
  it.each([...SPELLINGS, '１２７.0.0.1', '127。0。0。1', '[::ffff:7f00:1]'])(
    'reads %s as loopback, as resolvers do',
    async (host) => {
      expect(await verdict(buildGuard('none'), host)).toBe('refused')
      expect(await verdict(buildGuard('loopback'), host)).toMatch(/^(127\.0\.0\.1|::1)$/)
    },
  )

  it.each([
    '',
    ' ',
    '.',
    'a..b',
    'good.example@10.0.0.1',
    '10.0.0.1/x',
    'a b',
    'a:80',
    'fe80::1%eth0',
    'a%2eb',
    'a\\b',
  ])('rejects "%s" as a host', async (host) => {
    expect(await verdict(buildGuard('all', { [host]: ['1.1.1.1'] }), host)).toBe('unresolved')
  })

  it('resolves names in their canonical spelling, and keeps it as the server name', async () => {
    const guard = buildGuard('none', { 'xn--bcher-kva.example': ['1.1.1.1'] })
    expect(await guard.check({ host: 'BÜCHER.example.', port: 993 })).toEqual({
      host: 'xn--bcher-kva.example',
      port: 993,
      address: '1.1.1.1',
      family: 4,
    })
  })

  it('refuses a name when any of its addresses is not allowed', async () => {
    const guard = buildGuard('none', { 'a.example': ['1.1.1.1', '10.0.0.1'], 'b.example': ['1.1.1.1', 'fe80::1%eth0'] })
    expect(await verdict(guard, 'a.example')).toBe('refused')
    expect(await verdict(guard, 'b.example')).toBe('refused')
  })

  it('pins an IPv4 address if there is one', async () => {
    const guard = buildGuard('none', { 'a.example': ['2606:4700::1', '1.1.1.1'], 'b.example': ['2606:4700::1'] })
    expect(await guard.check({ host: 'a.example', port: 1 })).toMatchObject({ address: '1.1.1.1', family: 4 })
    expect(await guard.check({ host: 'b.example', port: 1 })).toMatchObject({ address: '2606:4700::1', family: 6 })
  })

  it('names the setting in a refusal, but not the resolved address', async () => {
    const guard = buildGuard('none', { 'a.example': ['10.1.2.3'] })
    const refusal = guard.check({ host: 'a.example', port: 1 })
    await expect(refusal).rejects.toThrow(
      'a.example does not have a public address, and PRIVATE_TARGETS does not allow it.',
    )
    await expect(guard.check({ host: '169.254.169.254', port: 1 })).rejects.toThrow('PRIVATE_TARGETS')
  })

  it('allows the targets of a list: hosts, wildcards, addresses, networks and keywords', async () => {
    const guard = buildGuard('Mail.Internal., *.corp.example, 10.2.0.0/16, 192.168.7.7, loopback, fd12::/16', {
      'mail.internal': ['10.9.9.9'],
      'a.corp.example': ['172.16.0.1'],
      'corp.example': ['172.16.0.1'],
      'evilcorp.example': ['172.16.0.1'],
      'meta.corp.example': ['169.254.169.254'],
    })
    const open = [
      'mail.internal',
      'a.corp.example',
      '10.2.3.4',
      '192.168.7.7',
      '127.0.0.1',
      'fd12::1',
      '::ffff:10.2.3.4',
    ]
    for (const host of open) expect(await verdict(guard, host), host).not.toBe('refused')
    const shut = [
      '10.9.9.9',
      'corp.example',
      'evilcorp.example',
      'meta.corp.example',
      '10.3.0.1',
      '192.168.7.8',
      'fd13::1',
    ]
    for (const host of shut) expect(await verdict(guard, host), host).toBe('refused')
  })

  it('allows plain http only to what the setting covers', async () => {
    const names = { 'a.example': ['1.1.1.1'], 'b.example': ['127.0.0.1'], 'c.example': ['10.0.0.1'] }
    const plain = async (setting: string, host: string) => {
      const guard = buildGuard(setting, names)
      return guard.allowsPlain(await guard.check({ host, port: 80 }))
    }
    expect(await plain('all', 'a.example')).toBe(false)
    expect(await plain('all', 'c.example')).toBe(true)
    expect(await plain('loopback', 'b.example')).toBe(true)
    expect(await plain('loopback', 'a.example')).toBe(false)
    expect(await plain('a.example', 'a.example')).toBe(true)
  })

  it('resolves again only after the TTL, and then checks the address again', async () => {
    const clock = fixedClock(1_000_000)
    const answers = [['1.1.1.1'], ['10.0.0.1']]
    const guard = addressGuard({
      privateTargets: 'none',
      clock,
      resolve: async () => ({ addresses: answers.shift() ?? [], ttlMs: 1000 }),
    })
    const host = 'a.example'
    expect(await Promise.all([verdict(guard, host), verdict(guard, host)])).toEqual(['1.1.1.1', '1.1.1.1'])
    clock.advance(999)
    expect(await verdict(guard, host)).toBe('1.1.1.1')
    clock.advance(2)
    expect(await verdict(guard, host)).toBe('refused')
  })

  it('does not cache a failed lookup', async () => {
    const names: Record<string, string[]> = {}
    const guard = buildGuard('none', names)
    expect(await verdict(guard, 'a.example')).toBe('unresolved')
    names['a.example'] = ['1.1.1.1']
    expect(await verdict(guard, 'a.example')).toBe('1.1.1.1')
  })
})
