import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6

/**
 * `never`: link-local and metadata addresses and unusable ones; no setting allows these. `private`: every other address in IANA's
 * special-purpose registries, including anycast services, and unassigned addresses.
 */
type AddressClass = 'public' | 'loopback' | 'private' | 'never'

/** Metadata services outside the link-local networks: Alibaba, Azure, Oracle, AWS, Google, Scaleway. */
const METADATA = [
  '100.100.100.200/32',
  '168.63.129.16/32',
  '192.0.0.192/32',
  'fd00:ec2::/32',
  'fd20:ce::254/128',
  'fd00:42::42/128',
].map((network) => ipaddr.parseCIDR(network))

/** The range that IANA assigns; the rest is special or unassigned. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')
/** NAT64: an IPv6-only network translates these to the IPv4 address in the last 32 bits. */
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96')
/** Local NAT64 with a prefix of unknown length: the IPv4 address may be at any offset of RFC 6052. */
const LOCAL_NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b:1::/48')
const LOCAL_NAT64_OFFSETS = [
  [6, 7, 9, 10],
  [7, 9, 10, 11],
  [9, 10, 11, 12],
  [12, 13, 14, 15],
]
const LINK_LOCAL_4 = ipaddr.IPv4.parseCIDR('169.254.0.0/16')
const SIX_TO_FOUR = ipaddr.IPv6.parseCIDR('2002::/16')
const NEVER = new Set(['linkLocal', 'multicast', 'broadcast', 'unspecified'])

export function classifyAddress(address: Address): AddressClass {
  if (isWithin(address, METADATA)) return 'never'
  return address instanceof ipaddr.IPv4 ? classifyIpv4(address) : classifyIpv6(address)
}

export function isWithin(address: Address, networks: readonly (readonly [Address, number])[]): boolean {
  return networks.some(([network, bits]) => address.kind() === network.kind() && address.match(network, bits))
}

function classifyIpv4(address: ipaddr.IPv4): AddressClass {
  const range = address.range()
  if (range === 'unicast') return 'public'
  if (range === 'loopback') return 'loopback'
  return NEVER.has(range) ? 'never' : 'private'
}

function classifyIpv6(address: ipaddr.IPv6): AddressClass {
  const range = address.range()
  if (range === 'loopback') return 'loopback'
  if (NEVER.has(range)) return 'never'
  if (address.match(LOCAL_NAT64)) return mayBeTranslatedToNever(address) ? 'never' : 'private'
  const inner = embedded(address)
  const innerClass = inner === undefined ? 'public' : classifyAddress(inner)
  if (innerClass === 'never') return 'never'
  if (range === 'ipv4Mapped') return innerClass
  const isGlobal = (range === 'unicast' && address.match(GLOBAL_UNICAST)) || address.match(NAT64)
  return isGlobal && innerClass === 'public' ? 'public' : 'private'
}

/** Checks only for `never` addresses: at a wrong offset, a harmless address may look like any other. */
function mayBeTranslatedToNever(address: ipaddr.IPv6): boolean {
  const bytes = address.toByteArray()
  return LOCAL_NAT64_OFFSETS.some((offsets) => {
    const inner = new ipaddr.IPv4(offsets.map((at) => bytes[at] ?? 0))
    return isWithin(inner, [...METADATA, LINK_LOCAL_4])
  })
}

/** The IPv4 address that packets to this one may end up at. */
function embedded(address: ipaddr.IPv6): ipaddr.IPv4 | undefined {
  const bytes = address.toByteArray()
  if (address.match(SIX_TO_FOUR)) return new ipaddr.IPv4(bytes.slice(2, 6))
  const isCompatible = bytes.slice(0, 12).every((byte) => byte === 0)
  const isTranslated = ['ipv4Mapped', 'rfc6052', 'rfc6145'].includes(address.range())
  // ISATAP: …:0:5efe:<IPv4> below any prefix; the universal bit may be set.
  const isIsatap = ((bytes[8] ?? 0) & 0xfd) === 0 && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe
  return isCompatible || isTranslated || isIsatap ? new ipaddr.IPv4(bytes.slice(12)) : undefined
}
