import { describe, expect, it, onTestFinished } from 'vitest'
import { openGuard } from '../../../test/servers/imap-mailbox.ts'
import { type StrictSmtpScript, startStrictSmtp } from '../../../test/servers/strict-smtp.ts'
import type { MailAccess, QueuedMessage } from '../contract/index.ts'
import { smtpProvider } from './index.ts'

const never = new AbortController().signal
const steps = { onDraft: async () => {}, onCommit: async () => {} }
const noCopies = () => ({
  contains: async () => false,
  count: async () => [],
  save: async () => {},
  markAnswered: async () => {},
})

/** Each message is sent by a sender of its own, over the connection that the last one has kept. */
async function sendingTo(script: StrictSmtpScript) {
  const server = await startStrictSmtp(script)
  const { host, port } = server
  const provider = smtpProvider({ guard: openGuard, copies: noCopies })
  onTestFinished(async () => {
    provider.closeConnections()
    await server.close()
  })
  const login = { host, port, username: 'ada', allowPlain: true }
  const access: MailAccess = {
    accountId: 'acc_1',
    email: 'ada@acme.example',
    secrets: { password: 'one' },
    settings: {
      smtp: { ...login, security: 'starttls' },
      imap: { ...login, security: 'tls', allowSelfSigned: true, mailbox: 'INBOX' },
    },
  }
  const send = async (...recipients: string[]) => {
    const sender = provider.open(access)
    const outcome = await sender.send(message(recipients), steps, never)
    await sender.close()
    return outcome
  }
  return { server, send }
}

function message(recipients: string[]): QueuedMessage {
  return {
    from: 'ada@acme.example',
    recipients,
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
}

const GREY = '451 4.7.1 Greylisted, try again later'

describe.each([
  ['with PIPELINING', ['PIPELINING', 'AUTH PLAIN']],
  ['without PIPELINING', ['AUTH PLAIN']],
])('a refusal by a strict server %s', (_what, keywords) => {
  it.each([
    ['all recipients', { recipient: () => GREY }],
    ['the message', { message: () => GREY }],
  ])('of %s leaves a connection that sends the next message', async (_refused, refusing) => {
    const { server, send } = await sendingTo({ keywords, ...refusing })
    expect(await send('bob@example.com')).toMatchObject({ sent: false, retry: true })
    expect(await send('bob@example.com')).toMatchObject({ sent: false, retry: true })
    server.behave({ keywords })
    expect(await send('bob@example.com')).toMatchObject({ sent: true, refused: [] })
    expect([server.messages.length, server.connections()]).toEqual([1, 1])
  })

  it.each([
    ['refuses RSET', () => '500 5.5.2 unknown command'],
    ['ignores RSET', () => '250 Reset'],
  ])('by one that %s leads to a new connection', async (_what, reset) => {
    const { server, send } = await sendingTo({ keywords, reset, recipient: () => GREY })
    expect(await send('bob@example.com')).toMatchObject({ sent: false, retry: true })
    server.behave({ keywords, reset })
    expect(await send('bob@example.com')).toMatchObject({ sent: true, refused: [] })
    expect([server.messages.length, server.connections()]).toEqual([1, 2])
  })

  it.each([
    ['a bad sequence of commands', '503 5.5.1 Bad sequence of commands'],
    ['greylisting with a permanent code', '554 5.7.1 Recipient address rejected: Greylisted, see http://example.com'],
  ])('for %s is not permanent', async (_what, reply) => {
    const { server, send } = await sendingTo({
      keywords,
      recipient: (email) => (email.startsWith('b') ? reply : undefined),
    })
    expect(await send('bob@example.com')).toMatchObject({ sent: false, retry: true, refused: [{ diagnostic: reply }] })
    expect(await send('bob@example.com', 'eve@example.com')).toMatchObject({ sent: true, refused: [{}] })
    server.behave({ keywords, message: () => reply })
    expect(await send('bob@example.com')).toMatchObject({ sent: false, retry: true, onlyThisMessage: true })
  })

  it('of one recipient for good and another for now is not permanent', async () => {
    const replies: Record<string, string> = { bob: '503 5.5.1 Bad sequence', eve: '550 5.1.1 No such user' }
    const { send } = await sendingTo({ keywords, recipient: (email) => replies[email.slice(0, 3)] })
    expect(await send('bob@example.com', 'eve@example.com')).toMatchObject({ sent: false, retry: true })
    expect(await send('eve@example.com')).toMatchObject({ sent: false, retry: false })
  })
})
