import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../../../test/kit/eventually.ts'
import { api } from '../../../test/kit/http/http.ts'
import { type Service, startService } from '../../../test/kit/service/service.ts'
import { exchangeReport, gmailReport } from '../../../test/servers/delivery-reports.ts'
import { type Google, startGoogle } from '../../../test/servers/google.ts'
import { plainMail } from '../../../test/servers/messages.ts'
import { MICROSOFT_SCOPES, type Microsoft, startMicrosoft } from '../../../test/servers/microsoft.ts'

// biome-ignore lint/suspicious/noExplicitAny: JSON of responses.
type Json = any

const HELLO = { to: ['Bob <bob@example.com>'], subject: 'Hello', body: 'Hello Bob' }
const TENANT = '72f988bf-86f1-41af-91ab-2d7cd011db47'
const SHARED_SCOPES = ['Mail.ReadWrite.Shared', 'Mail.Send.Shared', 'Calendars.ReadWrite.Shared']

describe('the sender of a message', () => {
  let google: Google
  let graph: Microsoft
  let service: Service
  let users = 0

  beforeAll(async () => {
    google = await startGoogle()
    graph = await startMicrosoft()
    service = await startService({ environment: { ...google.settings, ...graph.settings } })
  })
  afterAll(async () => {
    await service.stop()
    await google.close()
    await graph.close()
  })

  const call = async (method: string, path: string, body?: object): Promise<{ status: number; body: Json }> => {
    const response = await api(service.url, service.key).request(method, path, body === undefined ? {} : { body })
    return { status: response.status, body: response.json }
  }

  async function connect(body: object): Promise<string> {
    const account = (await call('POST', '/accounts', body)).body
    await eventually(async () =>
      expect((await call('GET', `/accounts/${account.id}`)).body).toMatchObject({ status: 'connected' }),
    )
    return account.id
  }

  async function gmail() {
    users += 1
    const user = `ada${users}@gmail.com`
    google.addUser(user)
    const { refreshToken } = await google.grant(user)
    return { user, accountId: await connect({ provider: 'gmail', refreshToken }) }
  }

  async function microsoft(scopes: string[]) {
    users += 1
    const [user, support] = [`ada${users}@acme.example`, `support${users}@acme.example`]
    for (const each of [user, support]) graph.addUser(each, { tenant: TENANT })
    const { refreshToken } = await graph.grant(user, scopes)
    return { user, support, accountId: await connect({ provider: 'microsoft', refreshToken }) }
  }

  const send = (accountId: string, message: object) =>
    call('POST', `/accounts/${accountId}/messages/send`, { ...HELLO, ...message })
  const ended = (id: string) =>
    eventually(async () => {
      const item = (await call('GET', `/outbox/${id}`)).body
      expect(['sent', 'failed']).toContain(item.status)
      return item
    })
  const fromLine = (raw: string | undefined) => /^From: (.*)$/im.exec(raw ?? '')?.[1]?.trim()
  const refusal = ({ status, body }: { status: number; body: Json }) => [
    status,
    body.error?.details?.[0]?.path,
    body.error?.details?.[0]?.message,
  ]

  it('may be a verified address of Gmail, and no other', async () => {
    const { user, accountId } = await gmail()
    const alias = `support${users}@acme.example`
    google.aliases.set(user, [
      { email: alias, status: 'accepted' },
      { email: 'new@acme.example', status: 'pending' },
    ])
    for (const from of ['new@acme.example', 'Eve <eve@example.com>']) {
      const refused = [400, 'body.from', `must be one of: ${user}, ${alias}`]
      expect(refusal(await send(accountId, { from }))).toEqual(refused)
      expect(refusal(await call('POST', '/drafts', { ...HELLO, accountId, from }))).toEqual(refused)
    }
    const listed = () => google.calls.all.filter(({ path }) => path.includes('sendAs')).length
    const before = listed()
    const own = await send(accountId, { from: `Ada <${user.toUpperCase()}>` })
    expect([own.status, listed()]).toEqual([200, before])
    await ended(own.body.outboxId)

    const accepted = await send(accountId, { from: `Support <${alias.toUpperCase()}>`, subject: 'From the alias' })
    expect(await ended(accepted.body.outboxId)).toMatchObject({ status: 'sent', error: null })
    expect(fromLine(google.sent.at(-1)?.raw)).toBe(`Support <SUPPORT${users}@acme.example>`)
  })

  it('is looked up again before Gmail sends, which would replace it without a word', async () => {
    const { user, accountId } = await gmail()
    google.aliases.set(user, [{ email: 'old@acme.example', status: 'accepted' }])
    const sendAt = new Date(Date.now() + 1500).toISOString()
    const { body } = await send(accountId, { from: 'old@acme.example', sendAt })
    google.aliases.delete(user)
    const before = google.sent.length
    expect(await ended(body.outboxId)).toMatchObject({
      status: 'failed',
      error: { reason: 'rejected', message: expect.stringContaining('send from old@acme.example') },
    })
    expect(google.sent).toHaveLength(before)
  })

  it('of a draft is stored, changed and sent', async () => {
    const { user, accountId } = await gmail()
    google.aliases.set(user, [{ email: 'sales@acme.example', status: 'accepted' }])
    const { body: draft } = await call('POST', '/drafts', { ...HELLO, accountId, from: 'Sales <sales@acme.example>' })
    expect(draft.from).toBe('Sales <sales@acme.example>')
    expect(refusal(await call('PUT', `/drafts/${draft.id}`, { from: 'eve@example.com' }))).toMatchObject([
      400,
      'body.from',
      expect.any(String),
    ])
    expect((await call('PUT', `/drafts/${draft.id}`, { from: `Ada <${user}>` })).body.from).toBe(`Ada <${user}>`)
    const changed = (await call('PUT', `/drafts/${draft.id}`, { from: 'sales@acme.example', subject: 'Prices' })).body
    expect(changed).toMatchObject({ from: 'sales@acme.example', subject: 'Prices' })
    google.aliases.delete(user)
    expect(refusal(await call('POST', `/drafts/${draft.id}/send`))).toMatchObject([
      400,
      'draft.from',
      expect.any(String),
    ])
    google.aliases.set(user, [{ email: 'sales@acme.example', status: 'accepted' }])
    const { body } = await call('POST', `/drafts/${draft.id}/send`)
    expect(await ended(body.outboxId)).toMatchObject({ status: 'sent' })
    expect(fromLine(google.sent.at(-1)?.raw)).toBe('sales@acme.example')
  })

  it('may be an alias at Microsoft, and a mailbox for which Exchange lets the user send', async () => {
    const { user, support, accountId } = await microsoft([...MICROSOFT_SCOPES, ...SHARED_SCOPES])
    graph.aliases.set(user, [`ada.o${users}@acme.example`])
    const alias = await send(accountId, { from: `ada.o${users}@acme.example` })
    expect(await ended(alias.body.outboxId)).toMatchObject({ status: 'sent' })
    expect(fromLine(graph.sent.at(-1)?.raw)).toBe(`ada.o${users}@acme.example`)

    const denied = await send(accountId, { from: support })
    expect(await ended(denied.body.outboxId)).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('Send As or Send on Behalf') },
    })
    graph.applications.share(support, user, 'send')
    const allowed = await send(accountId, { from: support })
    expect(await ended(allowed.body.outboxId)).toMatchObject({ status: 'sent' })
    expect([graph.sent.at(-1)?.user, fromLine(graph.sent.at(-1)?.raw)]).toEqual([user, support])

    const { body: draft } = await call('POST', '/drafts', { ...HELLO, accountId, from: `Support <${support}>` })
    expect(draft.from).toBe(`Support <${support}>`)
    const { body } = await call('POST', `/drafts/${draft.id}/send`)
    expect(await ended(body.outboxId)).toMatchObject({ status: 'sent' })
    expect(fromLine(graph.sent.at(-1)?.raw)).toBe(`Support <${support}>`)
  })

  it('names the scopes that the user of a mailbox or of a shared one did not grant', async () => {
    const { user, support, accountId } = await microsoft([...MICROSOFT_SCOPES, 'Mail.ReadWrite.Shared'])
    graph.applications.share(support, user, 'send')
    const missing = (scope: string) => ({
      status: 409,
      body: {
        error: {
          code: 'consent_required',
          message: expect.stringMatching(new RegExp(`${accountId} did not grant ${scope}\\..*sharedMailboxes`)),
          details: [{ path: 'account.tokens.scopes', message: scope }],
        },
      },
    })
    expect(await send(accountId, { from: support })).toMatchObject(missing('Mail.Send.Shared'))
    const shared = await connect({ provider: 'microsoft', sharedWith: accountId, mailbox: support })
    expect(await send(shared, {})).toMatchObject(missing('Mail.Send.Shared'))
    expect(await call('GET', `/accounts/${shared}/calendars`)).toMatchObject(missing('Calendars.ReadWrite.Shared'))
    // What was granted works.
    expect((await call('POST', '/drafts', { ...HELLO, accountId: shared })).status).toBe(200)
  })

  it.each(['gmail', 'microsoft'] as const)('may be an alias from the draft to the bounce: %s', async (provider) => {
    const remote = provider === 'gmail' ? google : graph
    const { user, accountId } = provider === 'gmail' ? await gmail() : await microsoft(MICROSOFT_SCOPES)
    const alias = `sales${users}@acme.example`
    google.aliases.set(user, [{ email: alias, status: 'accepted' }])
    graph.aliases.set(user, [alias])
    const from = `Sales <${alias}>`
    const sync = () => call('POST', `/accounts/${accountId}/sync`)
    const events = async (type: string): Promise<Json[]> =>
      (await call('GET', `/events?accountId=${accountId}&type=${type}&limit=200`)).body.events
    const announced = async () => (await events('message.sent')).map(({ objectId, data }) => [objectId, data.from])
    const sentNow = async ({ body }: { body: Json }): Promise<string> => {
      expect(await ended(body.outboxId)).toMatchObject({ status: 'sent' })
      return body.result.messageId
    }

    const first = await sentNow(await send(accountId, { from, subject: 'Offer' }))
    const draft = (await call('POST', '/drafts', { ...HELLO, accountId, from })).body
    expect(draft.from).toBe(from)
    const second = await sentNow(await call('POST', `/drafts/${draft.id}/send`))
    await sync()
    const sender = { name: 'Sales', email: alias }
    const ofAlias = [
      [second, sender],
      [first, sender],
    ]
    await eventually(async () => expect(await announced()).toEqual(ofAlias))

    // The sender of a message gets the report about it.
    const { messageId } = (await call('GET', `/accounts/${accountId}/messages/${first}`)).body
    const report = { email: 'bob@example.com', messageId, to: alias }
    await remote.deliver(user, provider === 'gmail' ? gmailReport(report) : exchangeReport(report))
    await sync()
    await eventually(async () => expect(await events('message.bounced')).toMatchObject([{ objectId: first }]))

    // A reply to what the alias has sent goes to its recipient; a reply is from an alias only when it says so.
    await sentNow(await send(accountId, { replyToMessageId: first, to: undefined, from }))
    await sentNow(await send(accountId, { replyToMessageId: first, to: undefined }))
    expect(remote.sent.slice(-2).map(({ raw }) => [fromLine(raw), /^To: (.*)$/im.exec(raw)?.[1]?.trim()])).toEqual([
      [from, expect.stringContaining('bob@example.com')],
      [user, expect.stringContaining('bob@example.com')],
    ])
    await remote.deliver(user, plainMail({ from: 'Eve <eve@example.com>', to: alias, subject: 'Prices' }))
    await sync()
    const asked = await eventually(async () => {
      const [found] = (await call('GET', `/accounts/${accountId}/messages?from=eve@example.com`)).body.messages
      expect(found).toMatchObject({ subject: 'Prices' })
      return found
    })
    await sentNow(await send(accountId, { replyToMessageId: asked.id, to: undefined, from }))
    expect(fromLine(remote.sent.at(-1)?.raw)).toBe(from)
    await sync()
    await eventually(async () => expect(await announced()).toHaveLength(5))
    expect(new Set((await announced()).map(([id]) => id)).size).toBe(5)
  })
})
