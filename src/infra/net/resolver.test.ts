import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { resolver } from './resolver.ts'

const A = 1
const AAAA = 28

/** A name server on loopback. `answer` gives the address of a question, null for "no such name", undefined for silence. */
async function nameServer(answer: (name: string, type: number) => string | null | undefined) {
  const asked: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => {
    const { name, type, end } = question(query)
    asked.push(name)
    const address = answer(name, type)
    if (address !== undefined) socket.send(reply(query.subarray(0, end), address, type), from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  onTestFinished(() => void socket.close())
  return { server: `127.0.0.1:${socket.address().port}`, asked }
}

function question(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('ascii', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

function reply(query: Buffer, address: string | null, type: number): Buffer {
  const head = Buffer.from(query)
  head.writeUInt16BE(address === null ? 0x8183 : 0x8180, 2)
  head.writeUInt16BE(address === null || address === '' ? 0 : 1, 6)
  head.writeUInt16BE(0, 8)
  head.writeUInt16BE(0, 10)
  if (address === null || address === '') return head
  const data = type === A ? Buffer.from(address.split('.').map(Number)) : Buffer.from(address.padStart(32, '0'), 'hex')
  const record = Buffer.alloc(12)
  record.writeUInt16BE(0xc00c, 0)
  record.writeUInt16BE(type, 2)
  record.writeUInt16BE(1, 4)
  record.writeUInt32BE(30, 6)
  record.writeUInt16BE(data.length, 10)
  return Buffer.concat([head, record, data])
}

describe('resolving names', () => {
  it('answers every address of a name, of both families, and for how long', async () => {
    const { server } = await nameServer((_name, type) => (type === A ? '192.0.2.7' : type === AAAA ? '1' : ''))
    const resolve = resolver({ timeoutMs: 5000, servers: [server], hostsFile: '/nowhere' })
    const { addresses, ttlMs } = await resolve('a.example')
    expect(addresses).toEqual(['192.0.2.7', '::1'])
    expect(ttlMs).toBe(30_000)
  })

  it('is content with one family', async () => {
    const { server } = await nameServer((_name, type) => (type === A ? '192.0.2.7' : ''))
    const resolve = resolver({ timeoutMs: 5000, servers: [server], hostsFile: '/nowhere' })
    expect((await resolve('a.example')).addresses).toEqual(['192.0.2.7'])
  })

  it('gives up on a name server that is silent', { timeout: 10_000 }, async () => {
    const { server } = await nameServer(() => undefined)
    const resolve = resolver({ timeoutMs: 200, servers: [server], hostsFile: '/nowhere' })
    await expect(resolve('a.example')).rejects.toThrow()
  })

  it('rejects a name that nobody knows', async () => {
    const { server } = await nameServer(() => null)
    const resolve = resolver({ timeoutMs: 5000, servers: [server], hostsFile: '/nowhere' })
    await expect(resolve('nobody.invalid')).rejects.toThrow()
  })

  it('believes the hosts file before it asks anyone', async () => {
    const { server, asked } = await nameServer(() => '192.0.2.7')
    const folder = await mkdtemp(join(tmpdir(), 'posthorn-hosts-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const hostsFile = join(folder, 'hosts')
    await writeFile(hostsFile, '# comment\n10.1.1.1\tMail.Example mail # here\nfd00::1 mail.example\n\n')
    const resolve = resolver({ timeoutMs: 5000, servers: [server], hostsFile })
    expect((await resolve('mail.example')).addresses).toEqual(['10.1.1.1', 'fd00::1'])
    expect((await resolve('mail')).addresses).toEqual(['10.1.1.1'])
    expect(asked).toEqual([])
  })

  it('knows localhost without asking', async () => {
    const resolve = resolver({ timeoutMs: 5000, servers: ['127.0.0.1:9'], hostsFile: '/nowhere' })
    expect((await resolve('localhost')).addresses).toEqual(['127.0.0.1', '::1'])
    expect((await resolve('app.localhost')).addresses).toEqual(['127.0.0.1', '::1'])
  })
})
