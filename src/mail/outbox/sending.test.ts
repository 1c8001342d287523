import PostalMime from 'postal-mime'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../../../test/kit/eventually.ts'
import { HELLO, type SendingApi, sendingApi } from '../../../test/kit/messages/sending-api.ts'
import { type Service, startService } from '../../../test/kit/service/service.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../../test/servers/dovecot.ts'
import { otherClient } from '../../../test/servers/imap-mailbox.ts'
import { attachmentMail } from '../../../test/servers/messages.ts'
import { type SmtpSink, startSmtpSink } from '../../../test/servers/smtp.ts'

// biome-ignore lint/suspicious/noExplicitAny: JSON of responses.
type Json = any

describe.skipIf(!dovecotAvailable())('sending for an imap account', () => {
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

  it('tracks the opens, the links and the replies of an HTML message', async () => {
    const { user, accountId, send, becomes, events } = await connected()
    const html = '<p>See <a href="https://shop.example/?a=1&amp;b=2">our shop</a></p>'
    const { body } = await send({ ...HELLO, body: html, isHtml: true, tracking: true })
    await becomes(body.outboxId, 'sent')
    const { id, token, snippet, pixelUrl } = body.result.tracking
    const [received] = smtp.messages
    const mail = await PostalMime.parse(received?.raw ?? '')
    const link = pixelUrl.replace('.gif', '/1')
    const here = (url: string) => service.url + new URL(url).pathname
    expect(mail.html?.trim()).toBe(`<p>See <a href="${link}">our shop</a></p>${snippet}`)
    expect(mail.text?.trim()).toBe('See our shop')
    expect(mail.headers.find(({ key }) => key === 'x-service-tracking-token')?.value).toBe(token)

    await fetch(here(pixelUrl), { headers: { 'user-agent': 'Mozilla/5.0' } })
    const followed = await fetch(here(link), { redirect: 'manual', headers: { 'user-agent': 'Firefox/132.0' } })
    expect([followed.status, followed.headers.get('location')]).toEqual([302, 'https://shop.example/?a=1&b=2'])
    await server.deliver(
      user,
      [
        'From: Bob <bob@example.com>',
        `To: ${user}@acme.example`,
        'Subject: Re: Hello',
        `References: <first@example.com>${mail.messageId}`,
        'Message-ID: <answer@example.com>',
        '',
        'Thanks!',
        '',
      ].join('\r\n'),
    )
    await eventually(async () => {
      expect((await call('GET', `/messages/tracking/${id}`)).body).toMatchObject({
        tracking: { id, messageId: body.result.messageId },
        metrics: { totalEvents: 3, openCount: 1, clickCount: 1, replyCount: 1 },
        events: [{ type: 'replied' }, { type: 'link_clicked', automated: false }, { type: 'opened', automated: true }],
      })
    })
    expect(await events('message.replied')).toMatchObject([{ objectId: body.result.messageId, accountId }])

    await server.deliver(
      user,
      [
        'From: Bob <bob@example.com>',
        `To: ${user}@acme.example`,
        'Subject: Re: Hello',
        'Precedence: bulk',
        `In-Reply-To: ${mail.messageId}`,
        'Auto-Submitted: auto-replied (vacation)',
        '',
        'I am away.',
        '',
      ].join('\r\n'),
    )
    await eventually(async () => {
      const automated = (await events('message.replied')).map(({ data }) => data.automated)
      expect(automated.sort()).toEqual([false, true])
    })
  })

  it('leaves messages alone that are not to be tracked, and plain text always', async () => {
    const { send, becomes } = await connected()
    const html = '<p><a href="https://shop.example/">Shop</a></p>'
    for (const message of [
      { body: html, isHtml: true },
      { body: html, isHtml: false, tracking: true },
    ]) {
      smtp.messages.length = 0
      const { body } = await send({ ...HELLO, ...message })
      await becomes(body.outboxId, 'sent')
      const raw = smtp.messages[0]?.raw.toString() ?? ''
      expect(raw).toContain('https://shop.example/')
      expect(raw).not.toContain(body.result.tracking.token)
    }
  })

  it('sends the files of a multipart request, once for each Idempotency-Key', async () => {
    const { user, send, becomes } = await connected()
    const image = Buffer.from(Array.from({ length: 70_000 }, (_, i) => (i * 13) % 256))
    const message = {
      ...HELLO,
      body: '<img src="cid:logo@acme">',
      isHtml: true,
      attachments: [
        { filename: 'first.txt', content: Buffer.from('one').toString('base64') },
        { part: 'logo', contentId: 'logo@acme', filename: 'renamed.png' },
      ],
    }
    const form = (changes: object = {}, last = 'report') => {
      const built = new FormData()
      built.append('logo', new Blob([image], { type: 'image/png' }), 'logo.png')
      built.append('message', JSON.stringify({ ...message, ...changes }))
      built.append('files', new Blob(['a,b']), 'Größe.csv')
      built.append('files', new Blob([last], { type: 'text/plain' }), 'report.txt')
      return built
    }
    const key = { 'idempotency-key': `files-${user}` }
    const first = await send(form(), key)
    expect(first.status).toBe(200)
    expect(await send(form(), key)).toEqual(first)
    for (const other of [form({}, 'REPORT'), form({ subject: 'Other' }), message]) {
      expect((await send(other, key)).body.error.code).toBe('idempotency_mismatch')
    }
    await becomes(first.body.outboxId, 'sent')
    expect(smtp.messages).toHaveLength(1)
    const mail = await PostalMime.parse(smtp.messages[0]?.raw ?? '')
    const found = mail.attachments.map(({ filename, mimeType, contentId, content }) => {
      const bytes = Buffer.from(content as ArrayBuffer)
      return [filename, mimeType, contentId, bytes.length < 100 ? bytes.toString() : bytes.equals(image)]
    })
    expect(found).toEqual(
      expect.arrayContaining([
        ['first.txt', 'application/octet-stream', undefined, 'one'],
        ['renamed.png', 'image/png', '<logo@acme>', true],
        ['Größe.csv', 'application/octet-stream', undefined, 'a,b'],
        ['report.txt', 'text/plain', undefined, 'report'],
      ]),
    )
    expect(found).toHaveLength(4)

    for (const [attachments, path] of [
      [[{ part: 'nothing' }], 'body.attachments.0.part'],
      [[{ part: 'files' }], 'body.attachments.0.part'],
      [[{ filename: 'x' }], 'body.attachments.0'],
      [Array.from({ length: 99 }, () => ({ part: 'logo' })), 'body.attachments'],
    ] as const) {
      const { status, body } = await send(form({ attachments }))
      expect([status, body.error.details[0]?.path]).toEqual([400, path])
    }
    expect((await send({ ...message })).body.error.details).toMatchObject([{ path: 'body.attachments.1.part' }])
  })

  it('sends a message once, saves one copy in Sent and announces it once', async () => {
    const { user, accountId, send, becomes, events } = await connected()
    const key = { 'idempotency-key': `send-${user}` }
    const first = await send({ ...HELLO, cc: ['carol@example.com'], bcc: ['dave@example.com'] }, key)
    expect(first.body).toMatchObject({
      success: true,
      result: {
        success: true,
        messageId: expect.stringMatching(/^msg_/),
        tracking: {
          id: expect.any(String),
          token: expect.any(String),
          pixelUrl: expect.any(String),
          snippet: expect.any(String),
          domain: expect.any(String),
          headers: { 'X-Service-Tracking-Token': expect.any(String) },
        },
      },
      outboxId: expect.stringMatching(/^obx_/),
      status: 'queued',
    })
    expect((await send({ ...HELLO, cc: ['carol@example.com'], bcc: ['dave@example.com'] }, key)).body).toEqual(
      first.body,
    )
    await becomes(first.body.outboxId, 'sent')
    const { messageId } = first.body.result
    await eventually(async () => {
      expect(await events('message.sent')).toMatchObject([{ objectId: messageId, data: { subject: 'Hello' } }])
    })
    expect(smtp.messages).toHaveLength(1)
    const [received] = smtp.messages
    expect(received).toMatchObject({
      from: `${user}@acme.example`,
      to: ['bob@example.com', 'carol@example.com', 'dave@example.com'],
    })
    expect(received?.raw.toString()).not.toContain('dave@')
    const copies = await otherClient(server, user, 'one', async (client) => {
      await client.mailboxOpen('Sent')
      return (await client.fetchAll('1:*', { source: true, flags: true })).map(({ source, flags }) => ({
        source,
        flags,
      }))
    })
    expect(copies).toHaveLength(1)
    expect(copies[0]?.source?.toString()).toBe(received?.raw.toString())
    expect(copies[0]?.flags?.has('\\Seen')).toBe(true)
    expect((await call('GET', `/accounts/${accountId}/messages/${messageId}`)).body).toMatchObject({
      id: messageId,
      folder: 'Sent',
      body: { text: expect.stringContaining('Hello Bob') },
    })
  })

  it('replies in the thread, attaches files by content and by reference, and forwards without long lines', async () => {
    const { user, accountId, send, becomes } = await connected()
    const original = attachmentMail({
      from: 'Eve <eve@example.com>',
      subject: 'Report',
      messageId: '<r1@example.com>',
      // Some programs write no space between them.
      headers: ['References: <root@example.com><r0@example.com>'],
      text: 'Größe '.repeat(500),
    })
    await server.deliver(user, original)
    const found = await eventually(async () => {
      const { body } = await call('GET', `/accounts/${accountId}/messages`)
      expect(body.messages).toHaveLength(1)
      return body.messages[0]
    })
    const reply = await send({
      replyToMessageId: found.id,
      body: '<p>Thanks</p><img src="cid:logo">',
      isHtml: true,
      attachments: [
        {
          filename: 'logo.png',
          contentType: 'image/png',
          content: Buffer.from('png').toString('base64'),
          contentId: 'logo',
        },
        { messageId: found.id, attachmentId: found.attachments[0].id },
        { filename: 'a.ics', contentType: 'Text/Calendar; method=REQUEST; charset=UTF-8', content: 'QkVHSU4=' },
      ],
      headers: { 'X-Campaign': 'über' },
    })
    const forward = await send({ to: ['bob@example.com'], forwardMessageId: found.id, body: 'See below.' })
    await becomes(reply.body.outboxId, 'sent')
    await becomes(forward.body.outboxId, 'sent')
    const [sentReply, sentForward] = await Promise.all(smtp.messages.map(({ raw }) => PostalMime.parse(raw)))
    expect(sentReply).toMatchObject({
      subject: 'Re: Report',
      inReplyTo: '<r1@example.com>',
      references: '<root@example.com> <r0@example.com> <r1@example.com>',
      to: [{ address: 'eve@example.com', name: 'Eve' }],
      html: expect.stringContaining('cid:logo'),
    })
    const names = sentReply?.attachments.map(({ filename, contentId }) => [filename, contentId ?? null])
    expect(names).toEqual(
      expect.arrayContaining([
        ['logo.png', '<logo>'],
        [found.attachments[0].filename, null],
        ['a.ics', null],
      ]),
    )
    expect(sentForward?.subject).toBe('Fwd: Report')
    const [attached] = sentForward?.attachments ?? []
    expect(attached?.mimeType).toBe('message/rfc822')
    const inner = await PostalMime.parse(attached?.content ?? '')
    expect([inner.text?.trim(), inner.attachments.length]).toEqual(['Größe '.repeat(500).trim(), 1])
    const [replyText = '', ...texts] = smtp.messages.map(({ raw }) => raw.toString('latin1'))
    expect(replyText).toMatch(/^Content-Type: text\/calendar; method=REQUEST; charset=UTF-8; name=a.ics/im)
    for (const line of [replyText, ...texts].join('\r\n').split('\r\n')) expect(line.length).toBeLessThanOrEqual(998)
    await eventually(async () => {
      const path = `/accounts/${accountId}/messages/${reply.body.result.messageId}`
      expect((await call('GET', path)).status).toBe(200)
    })
    const sent = (await call('GET', `/accounts/${accountId}/messages/${reply.body.result.messageId}`)).body
    const invitation = sent.attachments.find(({ filename }: Json) => filename === 'a.ics')
    const again = await send({ ...HELLO, attachments: [{ messageId: sent.id, attachmentId: invitation.id }] })
    await becomes(again.body.outboxId, 'sent')
    expect(smtp.messages.at(-1)?.raw.toString()).toMatch(
      /^Content-Type: text\/calendar; method=REQUEST; charset=UTF-8/im,
    )
    const thread = async (id: string) => (await call('GET', `/accounts/${accountId}/messages/${id}`)).body.threadId
    expect(await thread(reply.body.result.messageId)).toBe(found.threadId)
  })

  it('reports the recipients that were refused, and a message that nobody accepts', async () => {
    const { send, becomes, events } = await connected()
    smtp.behave({ recipient: (email) => (email.startsWith('gone') ? 550 : undefined) })
    const some = await send({ ...HELLO, to: ['bob@example.com', 'gone@example.com'] })
    const sent = await becomes(some.body.outboxId, 'sent')
    expect(sent.refused).toEqual([{ email: 'gone@example.com', code: 550, diagnostic: expect.stringContaining('550') }])
    const none = await send({ ...HELLO, to: ['gone@example.com'] })
    expect(await becomes(none.body.outboxId, 'failed')).toMatchObject({ error: { reason: 'rejected' }, attempts: 1 })
    expect(await events('message.send_failed')).toMatchObject([
      { objectId: none.body.result.messageId, data: { reason: 'rejected', outboxId: none.body.outboxId } },
    ])
    smtp.behave({})
    await call('POST', `/outbox/${none.body.outboxId}/resolve`, { as: 'retry' })
    await becomes(none.body.outboxId, 'sent')
  })

  it('tries again after a temporary refusal', async () => {
    const { send, outbox } = await connected()
    smtp.behave({ message: () => 451 })
    const { body } = await send(HELLO)
    await eventually(async () => {
      expect(await outbox(body.outboxId)).toMatchObject({
        status: 'queued',
        attempts: 1,
        error: { reason: 'unavailable' },
      })
    })
    smtp.behave({})
    await eventually(async () => expect(await outbox(body.outboxId)).toMatchObject({ status: 'sent', attempts: 2 }))
    expect(smtp.messages).toHaveLength(1)
  })

  it('never repeats a message whose reply was lost', async () => {
    const { send, becomes } = await connected()
    smtp.behave({ message: () => 'drop' })
    const { body } = await send(HELLO)
    expect(await becomes(body.outboxId, 'uncertain')).toMatchObject({ error: { reason: 'uncertain' } })
    expect(smtp.messages).toHaveLength(1)
    expect((await call('DELETE', `/outbox/${body.outboxId}`)).status).toBe(409)
    const resolved = await call('POST', `/outbox/${body.outboxId}/resolve`, { as: 'sent' })
    expect(resolved.body.status).toBe('sent')
    expect(smtp.messages).toHaveLength(1)
  })

  it('waits until sendAt, and can be cancelled until then', async () => {
    const { accountId, send, outbox } = await connected()
    const sendAt = new Date(Date.now() + 3_600_000).toISOString()
    const { body } = await send({ ...HELLO, sendAt })
    expect(await outbox(body.outboxId)).toMatchObject({ status: 'scheduled', sendAt, nextAttemptAt: sendAt })
    expect((await call('DELETE', `/outbox/${body.outboxId}`)).status).toBe(200)
    const list = await call('GET', `/outbox?accountId=${accountId}&status=cancelled`)
    expect(list.body).toMatchObject({ messages: [{ id: body.outboxId }], pagination: { total: 1 } })
    expect((await call('POST', `/outbox/${body.outboxId}/resolve`, { as: 'retry' })).status).toBe(409)
  })

  it('refuses what is not valid, and names the field', async () => {
    const { send } = await connected()
    const cases: [changes: object, path: string][] = [
      [{ to: ['bob'] }, 'body.to.0'],
      [{ to: ['bob@example.com', 'x@y\r\nBcc: eve@example.com'] }, 'body.to.1'],
      [{ cc: ['Team: a@x;'] }, 'body.cc.0'],
      [{ to: [] }, 'body.to'],
      [{ subject: undefined }, 'body.subject'],
      [{ body: undefined }, 'body.body'],
      [{ sendAt: 'tomorrow' }, 'body.sendAt'],
      [{ from: 'eve@example.com' }, 'body.from'],
      [{ replyToMessageId: 'msg_zzzz' }, 'body.replyToMessageId'],
      [{ headers: { Bcc: 'eve@example.com' } }, 'body.headers.Bcc'],
      [{ headers: { 'X-A\r\nBcc': 'x' } }, 'body.headers.X-A\r\nBcc'],
      [{ attachments: [{ filename: 'a', content: '###' }] }, 'body.attachments.0.content'],
      [{ attachments: [{ filename: 'a' }] }, 'body.attachments.0'],
      [{ attachments: [{ filename: 'a', content: '', contentType: 'text' }] }, 'body.attachments.0.contentType'],
      [
        { attachments: [{ filename: 'a', content: '', contentType: 'multipart/mixed; boundary=x' }] },
        'body.attachments.0.contentType',
      ],
    ]
    for (const [changes, path] of cases) {
      const { status, body } = await send({ ...HELLO, ...changes })
      expect([status, body.error?.details.map((detail: Json) => detail.path)]).toEqual([400, [path]])
    }
  })

  it('returns 404 for unknown ids', async () => {
    expect((await call('POST', '/accounts/acc_zzzz/messages/send', HELLO)).status).toBe(404)
    expect((await call('GET', '/outbox/obx_zzzz')).status).toBe(404)
    expect((await call('DELETE', '/outbox/obx_zzzz')).status).toBe(404)
  })
})
