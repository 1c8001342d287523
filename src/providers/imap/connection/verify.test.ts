import { createServer, type Server } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { memoryLog } from '../../../../test/kit/service/memory-log.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../../../test/servers/dovecot.ts'
import { imapAccess, openGuard } from '../../../../test/servers/imap-mailbox.ts'
import type { Log } from '../../../platform/log/index.ts'
import { type AddressGuard, GuardError } from '../../../platform/net/index.ts'
import { systemClock } from '../../../platform/time/clock.ts'
import type { ImapSettings, MailAccess } from '../../contract/index.ts'
import { imapProvider } from '../provider.ts'

describe.skipIf(!dovecotAvailable())('verifying an IMAP mailbox', () => {
  let server: Dovecot
  const listeners: Server[] = []
  beforeAll(async () => {
    server = await startDovecot()
    await server.addUser('ann', 'secret')
  })
  afterEach(() => {
    for (const listener of listeners.splice(0)) listener.close()
  })
  afterAll(() => server.stop())

  function access(settings: Partial<ImapSettings> = {}, password = 'secret'): MailAccess {
    const plain = imapAccess(server, 'ann', password)
    const imap = plain.settings.imap
    if (imap === undefined) throw new Error('no IMAP settings')
    return { ...plain, settings: { imap: { ...imap, ...settings } } }
  }

  function verify(of: MailAccess, guard: AddressGuard = openGuard, verifyMs = 5000, log?: Log) {
    const { mail } = imapProvider({ guard, clock: systemClock, limits: { verifyMs }, ...(log && { log }) })
    return mail.verify(of, new AbortController().signal)
  }

  function listening(greet: (socket: import('node:net').Socket) => void): Promise<number> {
    const listener = createServer((socket) => {
      socket.on('error', () => {})
      greet(socket)
    })
    listeners.push(listener)
    return new Promise((resolve) => {
      listener.listen(0, '127.0.0.1', () => {
        const address = listener.address()
        resolve(typeof address === 'object' && address !== null ? address.port : 0)
      })
    })
  }

  it('works over TLS and over STARTTLS', async () => {
    expect((await verify(access())).folders.map((folder) => folder.path)).toContain('Sent')
    const starttls = access({ port: server.imapPort, security: 'starttls' })
    expect((await verify(starttls)).folders).not.toEqual([])
  })

  it('refuses an untrusted certificate over TLS and STARTTLS, unless allowed', async () => {
    await expect(verify(access({ allowSelfSigned: false }))).rejects.toMatchObject({ kind: 'tls' })
    const starttls = access({ port: server.imapPort, security: 'starttls', allowSelfSigned: false })
    await expect(verify(starttls)).rejects.toMatchObject({ kind: 'tls' })
  })

  it('sends nothing in plain text to a server without STARTTLS', async () => {
    const heard: string[] = []
    const port = await listening((socket) => {
      socket.write('* OK ready\r\n')
      socket.on('data', (chunk) => {
        heard.push(String(chunk))
        const tag = String(chunk).split(' ')[0]
        if (/CAPABILITY/i.test(String(chunk))) socket.write(`* CAPABILITY IMAP4rev1 AUTH=PLAIN\r\n${tag} OK done\r\n`)
        else socket.write(`${tag} OK done\r\n`)
      })
    })
    await expect(verify(access({ port, security: 'starttls' }))).rejects.toMatchObject({ kind: 'tls' })
    expect(heard.join('')).not.toMatch(/LOGIN|AUTHENTICATE|secret/)
  })

  it('uses plain text only if the account allows it and PRIVATE_TARGETS covers the server, with a warning', async () => {
    const commands: string[] = []
    const port = await listening((socket) => {
      socket.write('* OK [CAPABILITY IMAP4rev1] ready\r\n')
      socket.on('data', (chunk) => {
        for (const line of String(chunk).trim().split('\r\n')) {
          const [tag, name = ''] = line.split(' ')
          commands.push(name)
          if (name === 'CAPABILITY') socket.write('* CAPABILITY IMAP4rev1\r\n')
          if (name === 'LIST') socket.write('* LIST () "/" INBOX\r\n')
          if (name === 'STATUS') socket.write('* STATUS INBOX (MESSAGES 0)\r\n')
          socket.write(`${tag} OK done\r\n`)
        }
      })
    })
    const { log, entries } = memoryLog()
    const plain = access({ port, security: 'starttls', allowPlain: true })
    const outside: AddressGuard = { ...openGuard, allowsPlain: () => false }
    await expect(verify(plain, outside, 5000, log)).rejects.toMatchObject({ kind: 'tls' })
    const inside: AddressGuard = { ...openGuard, allowsPlain: () => true }
    await expect(verify(access({ port, security: 'starttls' }), inside, 5000, log)).rejects.toMatchObject({
      kind: 'tls',
    })
    expect(commands).not.toContain('LOGIN')
    expect(entries).toEqual([])
    expect((await verify(plain, inside, 5000, log)).folders).not.toEqual([])
    expect(commands).toContain('LOGIN')
    expect(entries).toMatchObject([{ level: 'warn', message: expect.stringContaining(`127.0.0.1:${port}`) }])
    // A server that offers STARTTLS is not contacted in plain text.
    const offered = access({ port: server.imapPort, security: 'starttls', allowPlain: true, allowSelfSigned: false })
    await expect(verify(offered, inside)).rejects.toMatchObject({ kind: 'tls' })
  })

  it('maps a wrong password, user and folder to their kinds', async () => {
    await expect(verify(access({}, 'wrong'))).rejects.toMatchObject({ kind: 'auth_expired' })
    await expect(verify(access({ username: 'nobody' }))).rejects.toMatchObject({ kind: 'auth_expired' })
    await expect(verify(access({ mailbox: 'No/Such' }))).rejects.toMatchObject({ kind: 'not_found' })
  })

  it('throws unavailable when nothing listens, or the listener is silent, disconnects or sends garbage', async () => {
    await expect(verify(access({ port: 1 }))).rejects.toMatchObject({ kind: 'unavailable' })
    const silent = await listening(() => {})
    const plain = { port: silent, security: 'starttls' } as const
    await expect(verify(access(plain), openGuard, 200)).rejects.toMatchObject({ kind: 'unavailable', timedOut: true })
    await expect(verify(access({ port: silent }), openGuard, 200)).rejects.toMatchObject({ timedOut: true })
    const rude = await listening((socket) => socket.destroy())
    await expect(verify(access({ ...plain, port: rude }))).rejects.toMatchObject({ name: 'ProviderError' })
    const babbling = await listening((socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'))
    await expect(verify(access({ ...plain, port: babbling }), openGuard, 300)).rejects.toMatchObject({
      kind: 'unavailable',
    })
    await expect(verify(access({ port: babbling }), openGuard, 300)).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('does not speak TLS on this port'),
    })
  })

  it('never contacts an address that the guard refuses', async () => {
    let contacts = 0
    const port = await listening(() => {
      contacts += 1
    })
    const refusing: AddressGuard = {
      ...openGuard,
      check: () => Promise.reject(new GuardError('refused', 'may not be reached; see PRIVATE_TARGETS')),
    }
    await expect(verify(access({ port }), refusing)).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('PRIVATE_TARGETS'),
    })
    expect(contacts).toBe(0)
  })

  it('connects to the pinned address, and checks the certificate for the host name', async () => {
    const pinned: AddressGuard = {
      ...openGuard,
      check: async (target) => ({ ...target, address: '127.0.0.1', family: 4 }),
    }
    expect((await verify(access({ host: 'mail.example.test' }), pinned)).folders).not.toEqual([])
    const strict = access({ host: 'mail.example.test', allowSelfSigned: false })
    await expect(verify(strict, pinned)).rejects.toMatchObject({ kind: 'tls' })
  })
})
