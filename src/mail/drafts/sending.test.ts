import PostalMime from 'postal-mime'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../../../test/kit/eventually.ts'
import { api } from '../../../test/kit/http/http.ts'
import { type Service, startService } from '../../../test/kit/service/service.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../../test/servers/dovecot.ts'
import { type Google, startGoogle } from '../../../test/servers/google.ts'
import { otherClient } from '../../../test/servers/imap-mailbox.ts'
import { type Microsoft, startMicrosoft } from '../../../test/servers/microsoft.ts'
import { type SmtpSink, startSmtpSink } from '../../../test/servers/smtp.ts'

// biome-ignore lint/suspicious/noExplicitAny: JSON of responses.
type Json = any

const NEW = { to: ['Bob <bob@example.com>'], subject: 'Hello', body: 'Hello Bob' }

/** Requests for one account, and what became of it. */
function client(service: Service, accountId: string) {
  const call = async (method: string, path: string, body?: object, headers: Record<string, string> = {}) => {
    const response = await api(service.url, service.key).request(method, path, { ...(body && { body }), headers })
    return { status: response.status, body: response.json }
  }
  const events = async (): Promise<string[]> => {
    const { body } = await call('GET', `/events?accountId=${accountId}`)
    return body.events
      .filter(({ type }: Json) => /^(draft|message)\./.test(type))
      .map(({ type, objectId }: Json) => `${type} ${objectId}`)
  }
  return {
    accountId,
    call,
    events,
    create: async (draft: object): Promise<Json> => (await call('POST', '/drafts', { accountId, ...draft })).body,
    send: (draftId: string, body?: object, headers?: Record<string, string>) =>
      call('POST', `/drafts/${draftId}/send`, body, headers),
    outboxBecomes: (id: string, status: string): Promise<Json> =>
      eventually(async () => {
        const { body } = await call('GET', `/outbox/${id}`)
        expect(body).toMatchObject({ status })
        return body
      }),
    /** Waits until the message was announced and the draft deleted, each once. */
    finished: (messageId: string, draft: { messageId: string }) =>
      eventually(async () => {
        await call('POST', `/accounts/${accountId}/sync`)
        const found = (await events()).filter((event) => /^(draft.deleted|message.sent) /.test(event))
        expect(found.sort()).toEqual([`draft.deleted ${draft.messageId}`, `message.sent ${messageId}`])
      }),
  }
}

describe.skipIf(!dovecotAvailable())('sending a draft of an imap mailbox', () => {
  let server: Dovecot
  let smtp: SmtpSink
  let service: Service
  let users = 0
  beforeAll(async () => {
    ;[server, smtp, service] = await Promise.all([startDovecot(), startSmtpSink(), startService()])
  })
  afterAll(async () => {
    await service.stop()
    await Promise.all([server.stop(), smtp.close()])
  })

  async function connected() {
    users += 1
    const user = `drafter${users}`
    await server.addUser(user, 'one')
    smtp.behave({})
    smtp.messages.length = 0
    const { json } = await api(service.url, service.key).post('/accounts', {
      email: `${user}@acme.example`,
      host: server.host,
      port: server.imapsPort,
      username: user,
      password: 'one',
      allowSelfSigned: true,
      smtpHost: smtp.host,
      smtpPort: smtp.port,
      smtpSecure: false,
    })
    const own = client(service, json.id)
    await eventually(async () => expect((await own.call('GET', `/accounts/${json.id}`)).body.status).toBe('connected'))
    const raws = (folder: string) =>
      otherClient(server, user, 'one', async (other) => {
        const { exists } = await other.mailboxOpen(folder, { readOnly: true })
        return exists === 0 ? [] : (await other.fetchAll('1:*', { source: true })).map(({ source }) => String(source))
      })
    /** Saves a draft as another program does, and waits until it is stored. */
    async function write(raw: string): Promise<Json> {
      await otherClient(server, user, 'one', (other) => other.append('Drafts', raw, ['\\Draft', '\\Seen']))
      return eventually(async () => {
        await own.call('POST', `/accounts/${json.id}/sync`)
        const { body } = await own.call('GET', `/accounts/${json.id}/drafts`)
        return body.drafts[0] ?? false
      })
    }
    return { ...own, user, raws, write }
  }

  it('sends what another program wrote, as it is, and then deletes the draft', async () => {
    const { user, raws, write, send, finished, call } = await connected()
    const file = Buffer.from([0, 255, 13, 10, 46, 13, 10, 128])
    const draft = await write(
      [
        `From: Dra Fter <${user}@acme.example>`,
        'To: Bob <bob@example.com>',
        'Bcc: dave@example.com',
        'Cc: =?utf-8?B?R3LDtsOfZQ==?= <carol@example.com>',
        'Subject: =?utf-8?B?R3LDvMOfZQ==?=',
        'Message-ID: <draft-1@acme.example>',
        'In-Reply-To: <r1@example.com>',
        'References: <r0@example.com> <r1@example.com>',
        'X-Mozilla-Draft-Info: internal',
        'MIME-Version: 1.0',
        'Content-Type: multipart/mixed; boundary="mix"',
        '',
        '--mix',
        'Content-Type: text/html; charset=utf-8',
        '',
        '<p>See <img src="cid:logo"></p>',
        '--mix',
        'Content-Type: image/png; name="logo.png"',
        'Content-ID: <logo>',
        'Content-Disposition: inline',
        'Content-Transfer-Encoding: base64',
        '',
        Buffer.from('png').toString('base64'),
        '--mix',
        'Content-Type: application/pdf',
        'Content-Disposition: attachment; filename="a b.pdf"',
        'Content-Transfer-Encoding: base64',
        '',
        file.toString('base64'),
        '--mix--',
        '',
      ].join('\r\n'),
    )
    const { status, body } = await send(draft.id)
    expect([status, body]).toEqual([
      200,
      {
        success: true,
        result: { success: true, messageId: expect.stringMatching(/^msg_/), tracking: expect.anything() },
        outboxId: expect.stringMatching(/^obx_/),
        status: 'queued',
      },
    ])
    expect(body.result.messageId).not.toBe(draft.messageId)
    await finished(body.result.messageId, draft)

    const [received] = smtp.messages
    expect(smtp.messages).toHaveLength(1)
    expect(received?.to.sort()).toEqual(['bob@example.com', 'carol@example.com', 'dave@example.com'])
    expect(received?.raw.toString()).not.toMatch(/dave@|mozilla/i)
    const mail = await PostalMime.parse(received?.raw ?? '')
    expect(mail).toMatchObject({
      subject: 'Gr\u00fc\u00dfe',
      messageId: '<draft-1@acme.example>',
      inReplyTo: '<r1@example.com>',
      references: '<r0@example.com> <r1@example.com>',
      html: expect.stringContaining('<img src="cid:logo">'),
      from: { name: 'Dra Fter', address: `${user}@acme.example` },
      cc: [{ name: 'Gr\u00f6\u00dfe', address: 'carol@example.com' }],
    })
    const files = mail.attachments.map(({ filename, contentId, content }) => [
      filename,
      contentId ?? null,
      Buffer.from(content as ArrayBuffer),
    ])
    expect(files).toEqual([
      ['logo.png', '<logo>', Buffer.from('png')],
      ['a b.pdf', null, file],
    ])
    expect(await raws('Drafts')).toEqual([])
    expect(await raws('Sent')).toEqual([received?.raw.toString()])
    expect((await call('GET', `/drafts/${draft.id}`)).status).toBe(404)
    expect((await send(draft.id)).status).toBe(404)
  })

  it('sends the accepted version once, and keeps what was changed since', async () => {
    const { create, send, call, outboxBecomes, raws } = await connected()
    const draft = await create({ ...NEW, body: '<p>one</p>', isHtml: true })
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    smtp.behave({ message: () => held.then(() => undefined) })
    const key = { 'idempotency-key': 'once', 'if-match': '"1"' }
    const first = await send(draft.id, { tracking: true }, key)
    expect((await send(draft.id, { tracking: true }, key)).body).toEqual(first.body)
    const again = await send(draft.id)
    expect([again.status, again.body.error.message]).toEqual([409, expect.stringContaining(first.body.outboxId)])
    await call('PUT', `/drafts/${draft.id}`, { body: '<p>two</p>' })
    release()
    expect(await outboxBecomes(first.body.outboxId, 'sent')).toMatchObject({ draftId: draft.id })
    // It can be sent again as soon as nothing of the first message remains to be done.
    const second = await eventually(async () => {
      const { status, body } = await send(draft.id)
      expect(status).toBe(200)
      return body
    })
    await outboxBecomes(second.outboxId, 'sent')
    const received = await Promise.all(smtp.messages.map(({ raw }) => PostalMime.parse(raw)))
    const bodies = [`<p>one</p>${first.body.result.tracking.snippet}`, '<p>two</p>']
    expect(received.map(({ html }) => html?.trim())).toEqual(bodies)
    // Two messages with one Message-ID would be one to mail servers.
    expect(new Set(received.map(({ messageId }) => messageId)).size).toBe(2)
    await eventually(async () => expect(await raws('Drafts')).toEqual([]))
    expect(await raws('Sent')).toHaveLength(2)
  })

  it('leaves the draft alone when the message is cancelled', async () => {
    const { create, send, call, raws } = await connected()
    const draft = await create(NEW)
    const sendAt = new Date(Date.now() + 3_600_000).toISOString()
    const { body } = await send(draft.id, { sendAt })
    expect(body.status).toBe('scheduled')
    expect((await send(draft.id)).status).toBe(409)
    expect((await call('DELETE', `/outbox/${body.outboxId}`)).status).toBe(200)
    expect((await call('GET', `/drafts/${draft.id}`)).body).toEqual(draft)
    expect(await raws('Drafts')).toHaveLength(1)
    expect((await send(draft.id, { sendAt })).status).toBe(200)
    expect(smtp.messages).toEqual([])
  })

  it('refuses a draft that cannot be sent, and names the field', async () => {
    const { create, send, write, call, accountId } = await connected()
    const empty = await create({ ...NEW, to: [] })
    const refused = await send(empty.id)
    expect([refused.status, refused.body.error.details]).toEqual([
      400,
      [{ path: 'draft.to', message: 'must name at least one recipient' }],
    ])
    const stale = await send(empty.id, {}, { 'if-match': '7' })
    expect(stale).toMatchObject({ status: 409, body: { error: { code: 'conflict', current: { id: empty.id } } } })
    expect((await send(empty.id, { sendAt: 'soon' })).body.error.details).toMatchObject([{ path: 'body.sendAt' }])
    expect((await send('drf_zzzz')).status).toBe(404)
    await call('DELETE', `/drafts/${empty.id}`)
    const odd = await write('To: bob@example.com\r\nCc: Bob, Eve\r\nSubject: x\r\nMessage-ID: <odd@x>\r\n\r\nHello\r\n')
    expect((await send(odd.id)).body.error.details).toMatchObject([{ path: 'draft.cc.0' }, { path: 'draft.cc.1' }])
    expect((await call('GET', `/outbox?accountId=${accountId}`)).body.messages).toEqual([])
  })
})

const USER = 'ann@example.test'
const ORIGINAL = 'From: bob@example.com\r\nMessage-ID: <o@x>\r\nSubject: Hi\r\n\r\nHi\r\n'
const REPLY = [
  `From: ${USER}`,
  'To: bob@example.com',
  'In-Reply-To: <o@x>',
  'References: <o@x>',
  'Message-ID: <reply@x>',
  'Subject: Re: Hi',
  '',
  'Hello',
  '',
].join('\r\n')

describe.each(['gmail', 'microsoft'] as const)('sending a draft of a %s mailbox', (provider) => {
  let server: Google | Microsoft
  let service: Service
  beforeAll(async () => {
    server = provider === 'gmail' ? await startGoogle() : await startMicrosoft()
    service = await startService({ environment: server.settings })
  })
  afterAll(async () => {
    await service.stop()
    await server.close()
  })

  it('sends it with its thread and Bcc, and then deletes the draft', async () => {
    server.addUser(USER)
    const { refreshToken } = await server.grant(USER)
    const { json } = await api(service.url, service.key).post('/accounts', { provider, refreshToken })
    const { accountId, call, send, finished } = client(service, json.id)
    await eventually(async () => expect((await call('GET', `/accounts/${accountId}`)).body.status).toBe('connected'))
    await server.deliver(USER, ORIGINAL)
    if ('historyId' in server) server.deliver(USER, REPLY, { labels: ['DRAFT'] })
    else await server.deliver(USER, REPLY, { folder: 'drafts', draft: true })
    const { original, draft } = await eventually(async () => {
      await call('POST', `/accounts/${accountId}/sync`)
      const { messages } = (await call('GET', `/accounts/${accountId}/messages`)).body
      const { drafts } = (await call('GET', `/accounts/${accountId}/drafts`)).body
      expect([messages.length, drafts.length]).toEqual([2, 1])
      return { original: messages.find(({ subject }: Json) => subject === 'Hi'), draft: drafts[0] }
    })
    expect((await call('PUT', `/drafts/${draft.id}`, { bcc: ['dave@example.com'] })).status).toBe(200)
    const { body } = await send(draft.id)
    await finished(body.result.messageId, draft)
    const path = `/accounts/${accountId}/messages/${body.result.messageId}`
    expect((await call('GET', path)).body).toMatchObject({
      subject: 'Re: Hi',
      threadId: original.threadId,
      inReplyTo: '<o@x>',
      to: [{ email: 'bob@example.com' }],
      bcc: provider === 'gmail' ? [] : [{ email: 'dave@example.com' }],
    })
    expect((await call('GET', `/drafts/${draft.id}`)).status).toBe(404)
    expect(server.messages(USER)).toHaveLength(2)
    const [{ raw = '' } = {}] = server.sent
    expect(raw).toContain('In-Reply-To: <o@x>')
    const recipients = 'historyId' in server ? raw.match(/^(To|Bcc): .*$/gm)?.sort() : server.sent[0]?.recipients
    const expected = ['Bcc: dave@example.com', 'To: bob@example.com']
    expect(recipients).toEqual(provider === 'gmail' ? expected : ['bob@example.com', 'dave@example.com'])
  })
})
