import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../../../test/kit/eventually.ts'
import { HELLO, type SendingApi, sendingApi } from '../../../test/kit/messages/sending-api.ts'
import { type Service, startService } from '../../../test/kit/service/service.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../../test/servers/dovecot.ts'
import { otherClient } from '../../../test/servers/imap-mailbox.ts'
import { type ReceivedMessage, type SmtpSink, startSmtpSink } from '../../../test/servers/smtp.ts'

/** A server that saves copies itself does it so long after the message. */
const LATE_MS = 1000
/** The first message of an account waits so long for such a copy. */
const WAIT_S = 3

describe.skipIf(!dovecotAvailable())('what a sent message leaves in the mailbox', () => {
  let server: Dovecot
  let smtp: SmtpSink
  let service: Service
  let call: SendingApi['call']
  let connected: SendingApi['connected']

  beforeAll(async () => {
    const environment = { OUTBOX_COPY_WAIT_SECONDS: String(WAIT_S) }
    ;[server, smtp, service] = await Promise.all([startDovecot(), startSmtpSink(), startService({ environment })])
    ;({ call, connected } = sendingApi({ server, smtp, service }))
  })
  afterAll(async () => {
    await service.stop()
    await Promise.all([server.stop(), smtp.close()])
  })

  const inFolder = (user: string, folder: string) =>
    otherClient(server, user, 'one', async (client) => {
      await client.mailboxOpen(folder)
      const rows = await client.fetchAll('1:*', { envelope: true, flags: true })
      return rows.map(({ envelope, flags }) => ({ subject: envelope?.subject ?? '', flags: [...(flags ?? [])] }))
    })
  const subjectsInSent = async (user: string) => (await inFolder(user, 'Sent')).map(({ subject }) => subject).sort()

  /** The SMTP server saves a copy of each message, after `delayMs`. */
  function saveCopiesAfter(user: string, delayMs: number, saving: Promise<unknown>[]) {
    const save = async ({ raw }: ReceivedMessage) => {
      await new Promise((resolve) => setTimeout(resolve, delayMs))
      await otherClient(server, user, 'one', (client) => client.append('Sent', raw, ['\\Seen']))
    }
    smtp.behave({
      message(received) {
        saving.push(save(received))
        return undefined
      },
    })
  }

  it.each([0, LATE_MS])('is one copy and one event where the server saves one after %d ms', async (delayMs) => {
    const { user, send, becomes, events } = await connected()
    const saving: Promise<unknown>[] = []
    saveCopiesAfter(user, delayMs, saving)
    const messages = ['one', 'two', 'three'].map(async (subject) => (await send({ ...HELLO, subject })).body.outboxId)
    for (const id of await Promise.all(messages)) await becomes(id, 'sent')
    await eventually(async () => expect(await events('message.sent')).toHaveLength(3))
    const next = (await send({ ...HELLO, subject: 'four' })).body.outboxId
    await becomes(next, 'sent')
    await eventually(async () => expect(await events('message.sent')).toHaveLength(4))
    await Promise.all(saving)
    expect(await subjectsInSent(user)).toEqual(['four', 'one', 'three', 'two'])
    expect(await events('message.sent')).toHaveLength(4)
  })

  it('is a copy of the service where the server saves none, at once after the first message', async () => {
    const { user, send, becomes, events } = await connected()
    const first = (await send({ ...HELLO, subject: 'one' })).body.outboxId
    await becomes(first, 'sent')
    await eventually(async () => expect(await events('message.sent')).toHaveLength(1))
    const sentMs = performance.now()
    await send({ ...HELLO, subject: 'two' })
    await eventually(async () => expect(await events('message.sent')).toHaveLength(2))
    expect(performance.now() - sentMs).toBeLessThan(WAIT_S * 1000)
    expect(await subjectsInSent(user)).toEqual(['one', 'two'])
  })

  it('is one copy again after one message whose server saved it too late', async () => {
    const { user, send, becomes, events } = await connected()
    const single = (await send({ ...HELLO, subject: 'one' })).body.outboxId
    await becomes(single, 'sent')
    await eventually(async () => expect(await subjectsInSent(user)).toEqual(['one']))
    // The server's copy of the first message comes after ours.
    const [copy] = smtp.messages
    await otherClient(server, user, 'one', (client) => client.append('Sent', copy?.raw ?? Buffer.alloc(0)))
    const saving: Promise<unknown>[] = []
    saveCopiesAfter(user, LATE_MS, saving)
    const two = (await send({ ...HELLO, subject: 'two' })).body.outboxId
    await becomes(two, 'sent')
    await Promise.all(saving)
    saving.length = 0
    const three = (await send({ ...HELLO, subject: 'three' })).body.outboxId
    await becomes(three, 'sent')
    await Promise.all(saving)
    await eventually(async () => expect(await events('message.sent')).toHaveLength(4))
    expect(await subjectsInSent(user)).toEqual(['one', 'one', 'three', 'two'])
  })

  it('is the flag \\Answered on the message that it replies to', async () => {
    const { user, accountId, send, becomes } = await connected()
    await server.deliver(user, 'From: eve@example.com\r\nSubject: Report\r\nMessage-ID: <r@example.com>\r\n\r\nx\r\n')
    const original = await eventually(async () => {
      const { messages } = (await call('GET', `/accounts/${accountId}/messages`)).body
      expect(messages).toHaveLength(1)
      return messages[0]
    })
    const { body } = await send({ replyToMessageId: original.id, body: 'Thanks' })
    await becomes(body.outboxId, 'sent')
    await eventually(async () => {
      const [answered] = await inFolder(user, 'INBOX')
      expect(answered?.flags).toContain('\\Answered')
      expect(answered?.flags).not.toContain('\\Seen')
    })
  })

  it('comes within seconds while another message of the account hangs', async () => {
    const { user, send, outbox, becomes, events } = await connected()
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    smtp.behave({ message: ({ raw }) => (raw.includes('Subject: hung') ? released.then(() => undefined) : undefined) })
    const before = (await send({ ...HELLO, subject: 'before' })).body.outboxId
    const hung = (await send({ ...HELLO, subject: 'hung' })).body.outboxId
    const after = (await send({ ...HELLO, subject: 'after' })).body.outboxId
    const startedMs = performance.now()
    await becomes(before, 'sent')
    await becomes(after, 'sent')
    await eventually(async () => expect(await events('message.sent')).toHaveLength(2))
    const later = (await send({ ...HELLO, subject: 'later' })).body.outboxId
    await becomes(later, 'sent')
    await eventually(async () => expect(await events('message.sent')).toHaveLength(3))
    expect((await outbox(hung)).status).toBe('sending')
    expect(await subjectsInSent(user)).toEqual(['after', 'before', 'later'])
    expect(performance.now() - startedMs).toBeLessThan(60_000)
    release()
    await becomes(hung, 'sent')
    await eventually(async () => expect(await events('message.sent')).toHaveLength(4))
    expect(smtp.messages).toHaveLength(4)
    expect(await subjectsInSent(user)).toEqual(['after', 'before', 'hung', 'later'])
  })
})
