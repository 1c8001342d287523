import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../../../test/kit/eventually.ts'
import { HELLO, type SendingApi, sendingApi } from '../../../test/kit/messages/sending-api.ts'
import { type Service, startService } from '../../../test/kit/service/service.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../../test/servers/dovecot.ts'
import { otherClient } from '../../../test/servers/imap-mailbox.ts'
import { type SmtpSink, startSmtpSink } from '../../../test/servers/smtp.ts'

// biome-ignore lint/suspicious/noExplicitAny: JSON of responses.
type Json = any

describe.skipIf(!dovecotAvailable())('the recipients of messages of an imap account', () => {
  let server: Dovecot
  let smtp: SmtpSink
  let service: Service
  let call: SendingApi['call']
  let connected: SendingApi['connected']

  beforeAll(async () => {
    ;[server, smtp, service] = await Promise.all([startDovecot(), startSmtpSink(), startService()])
    ;({ call, connected } = sendingApi({ server, smtp, service }))
  })
  afterAll(async () => {
    await service.stop()
    await Promise.all([server.stop(), smtp.close()])
  })

  it('replies to those that a message names, or asks for recipients', async () => {
    const { user, accountId, send, becomes } = await connected()
    const received = async (subject: string, header: readonly string[]) => {
      await server.deliver(
        user,
        [...header, `Subject: ${subject}`, `Message-ID: <${subject}@x.example>`, '', 'x', ''].join('\r\n'),
      )
      return eventually(async () => {
        const { messages } = (await call('GET', `/accounts/${accountId}/messages`)).body
        const found = messages.find((message: Json) => message.subject === subject)
        expect(found).toBeDefined()
        return found
      })
    }
    const replied = async (id: string) => {
      smtp.messages.length = 0
      const { body } = await send({ replyToMessageId: id, body: 'Yes' })
      await becomes(body.outboxId, 'sent')
      return smtp.messages.map(({ to }) => to)
    }
    for (const [subject, header] of Object.entries({
      'comma in From': ['From: Mueller, Hans <hans2@example.com>'],
      'comma in Reply-To': ['From: Hans', 'Reply-To: Mueller, Hans <hans2@example.com>'],
    })) {
      const comma = await received(subject, header)
      expect(await replied(comma.id)).toEqual([['hans2@example.com']])
    }

    const nobody = await received('nobody', ['From: Hans', 'Reply-To: undisclosed-recipients:;'])
    const refused = await send({ replyToMessageId: nobody.id, body: 'Yes' })
    expect([refused.status, refused.body.error.details]).toMatchObject([
      400,
      [{ path: 'body.to', message: expect.stringContaining('must name the recipients') }],
    ])
    smtp.messages.length = 0
    const named = await send({ replyToMessageId: nobody.id, to: ['bob@example.com'], body: 'Yes' })
    await becomes(named.body.outboxId, 'sent')

    const own = await send({ ...HELLO, to: ['customer@example.net'] })
    const { messageId } = own.body.result
    await eventually(async () => {
      expect((await call('GET', `/accounts/${accountId}/messages/${messageId}`)).status).toBe(200)
    })
    expect(await replied(messageId)).toEqual([['customer@example.net']])
  })

  it('accepts local parts outside ASCII', async () => {
    const { send, becomes } = await connected()
    const { status, body } = await send({ ...HELLO, to: ['王さん <用户@例え.jp>', 'größe@example.com'] })
    expect(status).toBe(200)
    expect(await becomes(body.outboxId, 'sent')).toMatchObject({ refused: [] })
    expect(smtp.messages).toMatchObject([{ to: ['用户@例え.jp', 'größe@example.com'], isUtf8: true }])
    const docomo = await send({ ...HELLO, to: ['taro..yamada.@docomo.example.com'] })
    expect(docomo.status).toBe(200)
  })

  it('sends a message again to a recipient that was refused for now, alone and once', async () => {
    const { user, accountId, send, outbox, events } = await connected()
    const gone = (email: string) => (email.startsWith('gone') ? 550 : undefined)
    smtp.behave({ recipient: (email) => (email.startsWith('late') ? 451 : gone(email)) })
    const to = ['bob@example.com', 'late@example.com', 'gone@example.com']
    const { body } = await send({ ...HELLO, to })
    await eventually(async () => {
      const found = await outbox(body.outboxId)
      expect(found).toMatchObject({ status: 'sent', error: null, nextAttemptAt: expect.any(String) })
      expect(found.refused.toSorted((a: Json, b: Json) => a.email.localeCompare(b.email))).toMatchObject([
        { email: 'gone@example.com', code: 550 },
        { email: 'late@example.com', code: 451 },
      ])
    })
    smtp.behave({ recipient: gone })
    await eventually(async () => {
      expect(await outbox(body.outboxId)).toMatchObject({
        status: 'sent',
        nextAttemptAt: null,
        refused: [{ email: 'gone@example.com', code: 550 }],
      })
    })
    expect(smtp.messages.map((message) => message.to)).toEqual([['bob@example.com'], ['late@example.com']])
    expect(smtp.messages[1]?.raw.equals(smtp.messages[0]?.raw ?? Buffer.alloc(0))).toBe(true)
    const copies = await otherClient(server, user, 'one', async (client) => (await client.mailboxOpen('Sent')).exists)
    expect(copies).toBe(1)
    await eventually(async () => expect(await events('message.sent')).toHaveLength(1))
    expect(await events('message.send_failed')).toEqual([])
    expect((await call('GET', `/outbox?accountId=${accountId}`)).body.pagination.total).toBe(1)
  })

  it('sends a message in parts to a server that takes only some recipients at once', async () => {
    const { send, outbox } = await connected()
    let recipients = 0
    smtp.behave({
      recipient() {
        recipients += 1
        return recipients > 2 ? 452 : undefined
      },
      message() {
        recipients = 0
        return undefined
      },
    })
    const to = Array.from({ length: 5 }, (_, index) => `guest${index}@example.com`)
    const { body } = await send({ ...HELLO, to })
    await eventually(async () => {
      expect(await outbox(body.outboxId)).toMatchObject({
        status: 'sent',
        refused: [],
        nextAttemptAt: null,
        attempts: 3,
      })
    })
    expect(smtp.messages.map((message) => message.to.length)).toEqual([2, 2, 1])
    expect(smtp.messages.flatMap((message) => message.to).sort()).toEqual(to)
  })

  it('forgets who was refused when the message itself is sent again', async () => {
    const { send, outbox, becomes } = await connected()
    smtp.behave({ recipient: () => 451 })
    const { body } = await send(HELLO)
    await eventually(async () => expect(await outbox(body.outboxId)).toMatchObject({ refused: [{ code: 451 }] }))
    smtp.behave({ message: () => 'drop' })
    expect(await becomes(body.outboxId, 'uncertain')).toMatchObject({ refused: [] })
    smtp.behave({})
    const resolved = await call('POST', `/outbox/${body.outboxId}/resolve`, { as: 'sent' })
    expect(resolved.body).toMatchObject({ status: 'sent', refused: [], nextAttemptAt: null })
    // The copy is saved last.
    await eventually(async () => {
      const path = `/accounts/${resolved.body.accountId}/messages/${resolved.body.messageId}`
      expect((await call('GET', path)).status).toBe(200)
    })
    expect(smtp.messages).toHaveLength(1)
  })

  it('never repeats a message to a deferred recipient whose reply was lost', async () => {
    const { send, outbox } = await connected()
    smtp.behave({
      recipient: (email) => (email.startsWith('late') && smtp.messages.length === 0 ? 451 : undefined),
      message: () => (smtp.messages.length === 0 ? undefined : 'drop'),
    })
    const { body } = await send({ ...HELLO, to: ['bob@example.com', 'late@example.com'] })
    await eventually(async () => {
      expect(await outbox(body.outboxId)).toMatchObject({
        status: 'sent',
        nextAttemptAt: null,
        refused: [{ email: 'late@example.com', code: null, diagnostic: expect.stringContaining('may have arrived') }],
      })
    })
    expect(smtp.messages.map((message) => message.to)).toEqual([['bob@example.com'], ['late@example.com']])
  })
})
