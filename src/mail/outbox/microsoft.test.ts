import PostalMime from 'postal-mime'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../../../test/kit/eventually.ts'
import { api } from '../../../test/kit/http/http.ts'
import { type Service, startService } from '../../../test/kit/service/service.ts'
import { plainMail } from '../../../test/servers/messages.ts'
import { MICROSOFT_SCOPES, type Microsoft, startMicrosoft } from '../../../test/servers/microsoft.ts'

// biome-ignore lint/suspicious/noExplicitAny: JSON of responses.
type Json = any

const HELLO = { to: ['Bob <bob@example.com>'], subject: 'Hello', body: 'Hello Bob' }

describe('sending for a microsoft account', () => {
  let graph: Microsoft
  let service: Service
  let users = 0

  beforeAll(async () => {
    graph = await startMicrosoft()
    service = await startService({ environment: graph.settings })
  })
  afterAll(async () => {
    await service.stop()
    await graph.close()
  })

  const call = async (method: string, path: string, body?: object) => {
    const response = await api(service.url, service.key).request(method, path, body === undefined ? {} : { body })
    return { status: response.status, body: response.json }
  }

  async function connected(scopes = MICROSOFT_SCOPES) {
    users += 1
    const user = `sender${users}@example.test`
    graph.addUser(user)
    graph.faults.clear()
    const { refreshToken } = await graph.grant(user, scopes)
    const { body } = await call('POST', '/accounts', { provider: 'microsoft', refreshToken })
    const accountId: string = body.id
    await eventually(async () => {
      expect((await call('GET', `/accounts/${accountId}`)).body.status).toBe('connected')
    })
    const before = graph.sent.length
    return {
      user,
      accountId,
      send: (message: object) => call('POST', `/accounts/${accountId}/messages/send`, message),
      becomes: (id: string, expected: object) =>
        eventually(async () => {
          const found = (await call('GET', `/outbox/${id}`)).body
          expect(found).toMatchObject(expected)
          return found as Json
        }),
      events: async (): Promise<[type: string, objectId: string][]> => {
        const { events } = (await call('GET', `/events?accountId=${accountId}&limit=200`)).body
        const own = events.filter(({ type }: Json) => /^(message|draft)\./.test(type))
        return own.map(({ type, objectId }: Json) => [type, objectId])
      },
      sync: () => call('POST', `/accounts/${accountId}/sync`),
      sent: () => graph.sent.slice(before),
      inFolder: (name: string) =>
        graph.messages(user).filter(({ folderId }) => folderId === graph.folderId(user, name)),
    }
  }

  it('sends a message once, announces it once under the reserved id, and shows no draft', async () => {
    const { accountId, send, becomes, events, sent, sync, inFolder } = await connected()
    // Sync sees the draft while it is completed, and recognises it by its id only.
    graph.replacesMessageIds = true
    graph.fail({ as: 'rate-limited', retryAfter: 1, on: /PATCH/ })
    const { body } = await send({ ...HELLO, bcc: ['eve@example.com'], headers: { 'X-Campaign': 'spring' } })
    await eventually(() => expect(inFolder('drafts')).toHaveLength(1))
    await sync()
    await becomes(body.outboxId, { status: 'sent', error: null })
    const { messageId } = body.result
    await eventually(async () => expect(await events()).toEqual([['message.sent', messageId]]))
    expect(sent()).toMatchObject([{ recipients: ['bob@example.com', 'eve@example.com'] }])
    expect(sent()[0]?.raw).toContain('X-Campaign: spring')
    expect(sent()[0]?.raw).not.toContain('eve@')
    expect((await call('GET', `/accounts/${accountId}/messages/${messageId}`)).body).toMatchObject({
      id: messageId,
      folder: 'Sent Items',
      subject: 'Hello',
      bcc: [{ email: 'eve@example.com' }],
      body: { text: expect.stringContaining('Hello Bob') },
    })
    expect((await call('GET', `/accounts/${accountId}/drafts`)).body.drafts).toEqual([])
    graph.replacesMessageIds = false
    await sync()
    expect(await events()).toEqual([['message.sent', messageId]])
  })

  it('replies in the thread of the original', async () => {
    const { user, accountId, send, sent } = await connected()
    await graph.deliver(
      user,
      plainMail({ messageId: '<q1@example.com>', subject: 'Offer', from: 'Eve <eve@example.com>' }),
    )
    await call('POST', `/accounts/${accountId}/sync`)
    const original = await eventually(async () => {
      const { messages } = (await call('GET', `/accounts/${accountId}/messages`)).body
      expect(messages).toHaveLength(1)
      return messages[0]
    })
    const cc = Array.from({ length: 600 }, (_, index) => `${'A long name'.repeat(10)} <cc${index}@example.com>`)
    const { body } = await send({ replyToMessageId: original.id, body: 'Yes', cc })
    const path = `/accounts/${accountId}/messages/${body.result.messageId}`
    const reply = await eventually(async () => {
      const found = await call('GET', path)
      expect(found.status).toBe(200)
      return found.body
    })
    expect(reply).toMatchObject({
      threadId: original.threadId,
      subject: 'Re: Offer',
      to: [{ email: 'eve@example.com' }],
    })
    expect(await PostalMime.parse(sent()[0]?.raw ?? '')).toMatchObject({ inReplyTo: '<q1@example.com>' })
    expect(sent()[0]?.recipients).toHaveLength(1 + cc.length)
  })

  it('removes the draft of a message that is cancelled, and of one that stays uncertain', async () => {
    const { send, becomes, events, sync, sent, user } = await connected()
    graph.fail({ as: 'rate-limited', retryAfter: 60, on: /\/send$/ })
    const waiting = (await send(HELLO)).body.outboxId
    await becomes(waiting, { status: 'queued', attempts: 1 })
    expect(graph.messages(user)).toMatchObject([{ subject: 'Hello' }])
    expect((await call('DELETE', `/outbox/${waiting}`)).status).toBe(200)
    await call('POST', `/accounts/${(await becomes(waiting, {})).accountId}/sync`)
    await eventually(() => expect(graph.messages(user)).toEqual([]))
    graph.fail({ as: 'reset', on: /\/send$/ })
    const lost = (await send(HELLO)).body.outboxId
    await becomes(lost, { status: 'uncertain' })
    expect(graph.messages(user)).toHaveLength(1)
    await call('POST', `/outbox/${lost}/resolve`, { as: 'discard' })
    await eventually(() => expect(graph.messages(user)).toEqual([]))
    await sync()
    expect(await events()).toEqual([])
    expect(sent()).toEqual([])
  })

  it('says what Microsoft cannot send, and which scopes are missing', async () => {
    const { send } = await connected()
    const refused = await send({ ...HELLO, headers: { 'X-Own': 'yes', 'List-Unsubscribe': '<mailto:x@example.com>' } })
    expect(refused).toMatchObject({ status: 409, body: { error: { code: 'not_supported' } } })
    expect(refused.body.error.message).toContain('List-Unsubscribe')
    const readOnly = await connected(['openid', 'offline_access', 'User.Read', 'Mail.Read'])
    expect(await readOnly.send(HELLO)).toMatchObject({
      status: 409,
      body: { error: { code: 'consent_required', message: expect.stringContaining('Mail.Send') } },
    })
  })
})
