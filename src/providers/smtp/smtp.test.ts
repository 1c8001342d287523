import { createServer, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../../test/kit/eventually.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../../test/servers/dovecot.ts'
import { openGuard } from '../../../test/servers/imap-mailbox.ts'
import { smtpSendingFixture } from '../../../test/servers/sending-fixtures.ts'
import { type SmtpBehaviour, type SmtpSinkOptions, startSmtpSink } from '../../../test/servers/smtp.ts'
import type { AddressGuard } from '../../platform/net/index.ts'
import { sendingConformance } from '../conformance/sending.ts'
import type { MailAccess, QueuedMessage, SmtpSettings } from '../contract/index.ts'
import { smtpProvider } from './index.ts'

const never = new AbortController().signal
const MESSAGE: QueuedMessage = {
  from: 'ada@acme.example',
  recipients: ['bob@example.com'],
  to: [],
  cc: [],
  bcc: [],
  rfcMessageId: '<1@x>',
  repliesTo: null,
  sizeBytes: 20,
  earlierDraftId: null,
  mayHaveDraft: false,
  originalDraftId: null,
  async *bytes() {
    yield Buffer.from('Subject: x\r\n\r\nHello\r\n')
  },
}

describe.skipIf(!dovecotAvailable())('with a mailbox on Dovecot', () => {
  let server: Dovecot
  let users = 0
  beforeAll(async () => {
    server = await startDovecot()
  })
  afterAll(() => server.stop())

  sendingConformance('SMTP', async () => {
    users += 1
    const user = `smtp${users}`
    await server.addUser(user, 'secret')
    const smtp = await startSmtpSink()
    const nextIs = (message: SmtpBehaviour['message']) =>
      smtp.behave({
        message(received) {
          smtp.behave({})
          return message?.(received)
        },
      })
    return smtpSendingFixture(server, user, {
      host: smtp.host,
      port: smtp.port,
      submitted: () => smtp.messages.map(({ raw, to }) => ({ raw: raw.toString('latin1'), recipients: [...to] })),
      refuse: (how) => nextIs(() => (how === 'permanent' ? 554 : 451)),
      heal() {},
      loseResponse: () => nextIs(() => 'drop'),
      stop: () => smtp.close(),
    })
  })
})

const noCopies = () => ({
  contains: async () => false,
  count: async () => [],
  save: async () => {},
  markAnswered: async () => {},
})
const steps = { onDraft: async () => {}, onCommit: async () => {} }

function accessTo(smtp: Partial<SmtpSettings>, allowSelfSigned: boolean): MailAccess {
  return {
    accountId: 'acc_1',
    email: 'ada@acme.example',
    secrets: { password: 'one' },
    settings: {
      smtp,
      imap: { host: '127.0.0.1', port: 1, username: 'ada', security: 'tls', allowSelfSigned, mailbox: 'INBOX' },
    },
  }
}

describe('signing in over SMTP', () => {
  async function opened(
    sink: SmtpSinkOptions,
    smtp: Partial<SmtpSettings>,
    { guard = openGuard, selfSigned = true }: { guard?: AddressGuard; selfSigned?: boolean } = {},
  ) {
    const server = await startSmtpSink(sink)
    onTestFinished(() => server.close())
    return { server, ...sender({ host: server.host, port: server.port, ...smtp }, { guard, selfSigned }) }
  }

  function sender(smtp: Partial<SmtpSettings>, { guard = openGuard, selfSigned = true, limits = {} } = {}) {
    const found: SmtpSettings[] = []
    const small = { connectMs: 2000, silenceMs: 2000, replyBytes: 2000 }
    const provider = smtpProvider({ guard, copies: noCopies, limits: { ...small, ...limits } })
    const opened = provider.open(accessTo(smtp, selfSigned), { onSettings: (settings) => found.push(settings) })
    onTestFinished(async () => {
      await opened.close()
      provider.closeConnections()
    })
    return {
      found,
      send: (message: Partial<QueuedMessage> = {}) => opened.send({ ...MESSAGE, ...message }, steps, never),
    }
  }

  it('sends to internationalised addresses where the server supports SMTPUTF8', async () => {
    const { server, send } = await opened({}, { security: 'starttls' })
    const recipients = ['用户@例え.jp', 'bob@例え.jp', 'größe@example.com']
    expect(await send({ from: 'ada@größe.example', recipients })).toMatchObject({ sent: true, refused: [] })
    // Domains alone do not need it: they are sent in ASCII.
    expect(await send({ from: 'ada@größe.example', recipients: ['bob@例え.jp'] })).toMatchObject({ sent: true })
    expect(server.messages).toMatchObject([
      { from: 'ada@größe.example', to: recipients, isUtf8: true },
      { from: 'ada@größe.example', to: ['bob@例え.jp'], isUtf8: false },
    ])
  })

  it('does not send them to a server without SMTPUTF8, except those that have an ASCII form', async () => {
    const { server, send } = await opened({ asciiOnly: true }, { security: 'starttls' })
    const outcome = await send({ recipients: ['bob@example.com', '用户@例え.jp'] })
    expect(outcome).toMatchObject({
      sent: false,
      retry: false,
      error: { kind: 'rejected', message: expect.stringContaining('no SMTPUTF8') },
      refused: [{ email: '用户@xn--r8jz45g.jp', code: null, diagnostic: expect.stringContaining('SMTPUTF8') }],
    })
    expect(await send({ recipients: ['bob@例え.jp'] })).toMatchObject({ sent: true })
    expect(server.messages).toMatchObject([{ to: ['bob@例え.jp'], isUtf8: false }])
    expect(server.connections()).toBe(1)
  })

  it.each([
    [['']],
    [['bob@example.com', ' ']],
    [['bob@example.com', 'eve@example.com>\r\nRCPT TO:<x@example.com']],
    [[]],
  ])('fails for good, and sends to nobody, when the recipients are %j', async (recipients) => {
    const { server, send } = await opened({}, { security: 'starttls' })
    expect(await send({ recipients })).toMatchObject({
      sent: false,
      retry: false,
      error: { kind: 'rejected', message: expect.stringContaining('no recipient') },
    })
    expect(await send()).toMatchObject({ sent: true })
    expect(server.messages).toHaveLength(1)
  })

  it('sends the next message over the same connection when the server refused all recipients of one', async () => {
    const { server, send } = await opened({}, { security: 'starttls' })
    // The package smtp-server knows no quoted local parts; it keeps the sender of the refused message, as Postfix does.
    expect(await send({ recipients: ['"a b"@example.com'] })).toMatchObject({
      sent: false,
      retry: false,
      refused: [{ email: '"a b"@example.com', code: 501 }],
    })
    expect(await send()).toMatchObject({ sent: true })
    expect([server.messages.length, server.connections()]).toEqual([1, 1])
  })

  it('quotes the local part of a recipient where it must', async () => {
    const commands: string[] = []
    const server = await hostileServer((socket) => {
      socket.write('220 a\r\n')
      let isMessage = false
      socket.on('data', (sent: Buffer) => {
        for (const line of String(sent).split('\r\n')) {
          if (isMessage && line !== '.') continue
          if (line.startsWith('RCPT')) commands.push(line)
          if (line.startsWith('AUTH')) socket.write('235 a\r\n')
          else if (line.startsWith('EHLO')) socket.write('250-a\r\n250 AUTH PLAIN\r\n')
          else if (line === 'DATA') socket.write('354 a\r\n')
          else if (line !== '') socket.write('250 a\r\n')
          isMessage = line === 'DATA'
        }
      })
    })
    const { send } = sender({ ...server.smtp, security: 'starttls', allowPlain: true })
    const recipients = ['taro..yamada.@docomo.example', '"a b"@example.com']
    expect(await send({ recipients })).toMatchObject({ sent: true, refused: [] })
    expect(commands).toEqual(['RCPT TO:<"taro..yamada."@docomo.example>', 'RCPT TO:<"a b"@example.com>'])
  })

  it('uses TLS from the first byte or STARTTLS, and one connection for many messages', async () => {
    for (const security of ['tls', 'starttls'] as const) {
      const { server, send } = await opened({ secure: security === 'tls' }, { security })
      expect([await send(), await send()]).toMatchObject([{ sent: true }, { sent: true }])
      expect(server.connections()).toBe(1)
    }
  })

  describe('keeps the connection for the next sender of the account', () => {
    async function keeping(limits: { keptMs?: number } = {}) {
      const server = await startSmtpSink()
      onTestFinished(() => server.close())
      const smtp = { host: server.host, port: server.port, security: 'starttls' as const }
      const provider = smtpProvider({ guard: openGuard, copies: noCopies, limits: { connectMs: 2000, ...limits } })
      onTestFinished(() => provider.closeConnections())
      const access = accessTo(smtp, true)
      const send = async (changes: Partial<MailAccess> = {}) => {
        const opened = provider.open({ ...access, ...changes })
        const outcome = await opened.send(MESSAGE, steps, never)
        await opened.close()
        return outcome.sent
      }
      return { server, provider, access, send }
    }

    it('while the login is the same', async () => {
      const { server, access, send } = await keeping()
      const { settings } = access
      const other = { ...settings, smtp: { ...settings.smtp, username: 'another' } }
      const outcomes = [
        await send(),
        await send(),
        await send({ secrets: { password: 'two' } }),
        await send({ settings: other }),
      ]
      expect([outcomes, server.connections()]).toEqual([[true, true, true, true], 3])
      expect([await send({ accountId: 'acc_2' }), server.connections()]).toEqual([true, 4])
      await eventually(() => expect(server.openConnections()).toBe(2))
    })

    it('and sends over a new one when the server has ended it unnoticed, once', async () => {
      const { server, send } = await keeping()
      for (let round = 1; round <= 3; round += 1) {
        const sent = await send()
        expect([sent, server.connections(), server.messages.length]).toEqual([true, round, round])
        server.hangUp()
      }
    })

    it('for a while, and until the account is gone', async () => {
      const { server, send } = await keeping({ keptMs: 20 })
      await send()
      await eventually(() => expect(server.openConnections()).toBe(0))
      const { server: next, provider, send: sendNext } = await keeping()
      await sendNext()
      provider.closeConnections('acc_2')
      expect([await sendNext(), next.connections()]).toEqual([true, 1])
      provider.closeConnections('acc_1')
      await eventually(() => expect(next.openConnections()).toBe(0))
    })
  })

  it('sends over a new connection when the server ends one after some messages', async () => {
    const { server, send } = await opened({}, { security: 'starttls' })
    await send()
    server.hangUp()
    expect([await send(), server.connections(), server.messages.length]).toMatchObject([{ sent: true }, 2, 2])
  })

  it('requires a valid certificate', async () => {
    const { send } = await opened({}, { security: 'starttls' }, { selfSigned: false })
    expect(await send()).toMatchObject({ sent: false, error: { kind: 'tls' } })
  })

  it('speaks plain text only where the user chose it and the guard allows it', async () => {
    const plain = { security: 'starttls', allowPlain: true } as const
    const refusing: AddressGuard = { ...openGuard, allowsPlain: () => false }
    expect(await (await opened({ plain: true }, plain)).send()).toMatchObject({ sent: true })
    expect(await (await opened({ plain: true }, plain, { guard: refusing })).send()).toMatchObject({ sent: false })
    expect(await (await opened({ plain: true }, { security: 'starttls' })).send()).toMatchObject({ sent: false })
  })

  it('gives up on a refused password', async () => {
    const { server, send } = await opened({}, { security: 'starttls' })
    server.behave({ password: 'another' })
    expect(await send()).toMatchObject({ sent: false, retry: false, error: { kind: 'auth_expired' } })
    expect(server.connections()).toBe(1)
  })

  it('derives what the user left out, and reports what worked', async () => {
    const server = await startSmtpSink()
    onTestFinished(() => server.close())
    const { send, found } = sender({ port: server.port })
    expect(await send()).toMatchObject({ sent: true })
    expect(found).toEqual([{ host: '127.0.0.1', port: server.port, security: 'starttls', username: 'ada' }])
  })

  it.each([
    ['is silent', ''],
    ['sends a reply without end', `220-${'x'.repeat(10_000)}`],
    ['is no mail server', 'HTTP/1.1 400 Bad Request\r\n\r\n'],
  ])('fails when the server %s', async (_what, greeting) => {
    const { send } = sender({ ...(await hostileServer((socket) => socket.write(greeting))).smtp, security: 'starttls' })
    expect(await send()).toMatchObject({ sent: false, retry: true })
  })

  describe('ends the connection', () => {
    const plain = { security: 'starttls', allowPlain: true } as const

    it.each([
      ['lines of a reply', '', '250-x\r\n'],
      ['one line', '', 'x'],
      ['empty lines', '220 a\r\n', '\r\n'],
      ['lines of white space', '220 a\r\n', ' \t\n'],
    ])('when the server sends %s without end', async (_what, start, text) => {
      const server = await hostileServer((socket) => {
        socket.write(start)
        pour(socket, Buffer.from(text.repeat(5000)))
      })
      const outcome = await sender({ ...server.smtp, ...plain }).send()
      expect(outcome).toMatchObject({ sent: false, error: { message: expect.stringContaining('too long reply') } })
      await eventually(() => expect(server.open.size).toBe(0))
    })

    it('when the server sends empty lines without end while it receives a message', async () => {
      const server = await hostileServer((socket) => {
        socket.write('220 a\r\n')
        socket.on('data', (sent: Buffer) => {
          const text = String(sent)
          if (text.startsWith('AUTH')) socket.write('235 a\r\n')
          else if (text.startsWith('EHLO')) socket.write('250-a\r\n250 AUTH PLAIN\r\n')
          else if (text.startsWith('DATA')) {
            socket.write('354 a\r\n')
            pour(socket, Buffer.alloc(10_000, '\n'))
          } else if (!text.endsWith('\r\n.\r\n')) socket.write('250 a\r\n')
        })
      })
      const { send } = sender({ ...server.smtp, ...plain })
      await expect(send()).rejects.toMatchObject({ message: expect.stringContaining('too long reply') })
      await eventually(() => expect(server.open.size).toBe(0))
    })

    it('when the reply of a server is not complete in time, though the server keeps sending', async () => {
      const server = await hostileServer((socket) => {
        const timer = setInterval(() => socket.write('220-a\r\n'), 20)
        socket.once('close', () => clearInterval(timer))
      })
      const outcome = await sender({ ...server.smtp, ...plain }, { limits: { connectMs: 500 } }).send()
      expect(outcome).toMatchObject({ sent: false, retry: true, error: { timedOut: true } })
      await eventually(() => expect(server.open.size).toBe(0))
    })
  })
})

/** A server that does this with each connection. */
async function hostileServer(serve: (socket: Socket) => unknown) {
  const open = new Set<Socket>()
  const server = createServer((socket) => {
    open.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => open.delete(socket))
    serve(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return { smtp: { host: '127.0.0.1', port }, open }
}

/** Sends the bytes again and again, as fast as they are read. */
function pour(socket: Socket, bytes: Buffer): void {
  if (socket.destroyed) return
  socket.write(bytes, () => setImmediate(() => pour(socket, bytes)))
}
