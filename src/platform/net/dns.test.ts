import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { closing } from '../../../test/kit/closing.ts'
import { startDns } from '../../../test/servers/dns.ts'
import { type NameAnswer, startNameServer } from '../../../test/servers/name-server.ts'
import { dnsRecords, resolver } from './dns.ts'

const nameServer = async (respond: (name: string) => NameAnswer) => closing(await startNameServer(respond))

describe('resolving names', () => {
  it('returns all IPv4 and IPv6 addresses of a name with their lifetime', async () => {
    const { server } = await nameServer(() => ['192.0.2.7', '::1'])
    const resolve = resolver({ timeoutMs: 300_000, servers: [server], hostsFile: '/nowhere' })
    const { addresses, ttlMs } = await resolve('a.example')
    expect(addresses).toEqual(['192.0.2.7', '::1'])
    expect(ttlMs).toBe(30_000)
  })

  it('accepts a name with one address family', async () => {
    const { server } = await nameServer(() => ['192.0.2.7'])
    const resolve = resolver({ timeoutMs: 300_000, servers: [server], hostsFile: '/nowhere' })
    expect((await resolve('a.example')).addresses).toEqual(['192.0.2.7'])
  })

  it('rejects when the name server is silent', async () => {
    const { server } = await nameServer(() => 'silence')
    const resolve = resolver({ timeoutMs: 200, servers: [server], hostsFile: '/nowhere' })
    await expect(resolve('a.example')).rejects.toThrow()
  })

  it('rejects an unknown name', async () => {
    const { server } = await nameServer(() => 'no such name')
    const resolve = resolver({ timeoutMs: 300_000, servers: [server], hostsFile: '/nowhere' })
    await expect(resolve('nobody.invalid')).rejects.toThrow()
  })

  it('reads the hosts file before DNS', async () => {
    const { server, asked } = await nameServer(() => ['192.0.2.7'])
    const folder = await mkdtemp(join(tmpdir(), 'posthorn-hosts-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const hostsFile = join(folder, 'hosts')
    await writeFile(hostsFile, '# comment\n10.1.1.1\tMail.Example mail # here\nfd00::1 mail.example\n\n')
    const resolve = resolver({ timeoutMs: 300_000, servers: [server], hostsFile })
    expect((await resolve('mail.example')).addresses).toEqual(['10.1.1.1', 'fd00::1'])
    expect((await resolve('mail')).addresses).toEqual(['10.1.1.1'])
    expect(asked).toEqual([])
  })

  it('resolves localhost without DNS', async () => {
    const resolve = resolver({ timeoutMs: 300_000, servers: ['127.0.0.1:9'], hostsFile: '/nowhere' })
    expect((await resolve('localhost')).addresses).toEqual(['127.0.0.1', '::1'])
    expect((await resolve('app.localhost')).addresses).toEqual(['127.0.0.1', '::1'])
  })
})

describe('records', () => {
  it('returns the texts of a name, and none for an unknown name', async () => {
    const { server } = closing(await startDns({ '_caldavs._tcp.a.example': { txt: ['path=/dav', 'other'] } }))
    const records = dnsRecords({ timeoutMs: 300_000, servers: [server] })
    expect(await records.txt('_caldavs._tcp.a.example')).toEqual(['path=/dav', 'other'])
    expect(await records.txt('_caldavs._tcp.b.example')).toEqual([])
  })

  it('returns the best 50 of thousands of records', async () => {
    const numbers = Array.from({ length: 2000 }, (_, at) => at)
    const { server } = closing(
      await startDns({
        'a.example': {
          mx: numbers.map((at) => ({ exchange: `m${at}.example`, priority: 1 })),
          txt: numbers.map((at) => `text ${at}`),
          srv: numbers.map((at) => ({ name: `s${at}.example`, port: 993, priority: 2000 - at, weight: 0 })),
        },
      }),
    )
    const records = dnsRecords({ timeoutMs: 5000, servers: [server] })
    expect(await records.mx('a.example')).toHaveLength(50)
    expect(await records.txt('a.example')).toHaveLength(50)
    const servers = await records.srv('a.example')
    expect([servers.length, servers[0]?.host]).toEqual([50, 's1999.example'])
  })

  it('returns 50 of thousands of addresses', async () => {
    const all = Array.from({ length: 2000 }, (_, at) => `192.0.${at >> 8}.${at & 255}`)
    const { server } = await nameServer(() => all)
    const resolve = resolver({ timeoutMs: 5000, servers: [server], hostsFile: '/nowhere' })
    expect((await resolve('a.example')).addresses).toEqual(all.slice(0, 50))
  })
})
