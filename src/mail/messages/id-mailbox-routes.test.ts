import { describe, expect, it, onTestFinished } from 'vitest'
import { type Databases, describeEachDatabase } from '../../../test/kit/database/database.ts'
import { testServer } from '../../../test/kit/http/server.ts'
import { PROVIDERS, type SyncedDoubleOptions, syncedDouble } from '../../../test/kit/mailbox/synced-double.ts'
import { ProviderError } from '../../providers/contract/index.ts'
import { labelRoutes } from '../labels/index.ts'
import { messageRoutes } from './routes.ts'

const NO_CONTENT = { body: { text: null, html: null } }

describe.each(['whole', 'folders'] as const)('the messages API of a mailbox with message ids (%s)', (kind) => {
  describeEachDatabase('on one database', (open) => {
    it('lists messages outside trash and junk, newest first, in stable pages', async () => {
      const { get, box, same } = await served(kind, open, {
        before: (mailbox) => {
          mailbox.deliverAll(['a', 'b', 'c', 'd', 'e'], (n) => ({
            receivedAt: 1_000_000 + n * 1000,
            folders: [n % 2 === 0 ? 'INBOX' : 'Work'],
            unread: n !== 0,
          }))
          mailbox.deliver('trashed', { folders: ['TRASH'] })
          mailbox.deliver('spam', { folders: ['SPAM'] })
        },
      })
      const first = (await get('/messages?limit=2')).json
      expect(subjects(first)).toEqual(['e', 'd'])
      expect(first.pagination).toMatchObject({ total: 5, totalPages: 3, hasNext: true })
      expect(first.messages[0]).toMatchObject({
        provider: kind === 'whole' ? 'gmail' : 'microsoft',
        providerMessageId: 'e',
        folder: 'INBOX',
        labelIds: [expect.stringMatching(/^lbl_/)],
        threadId: expect.stringMatching(/^thr_/),
      })
      box.deliver('late')
      await same()
      const second = (await get(`/messages?limit=2&cursor=${first.pagination.nextCursor}`)).json
      expect(subjects(second)).toEqual(['c', 'b'])
      expect(subjects((await get('/messages?unread=false')).json)).toEqual(['a'])
      expect((await get('/messages?hasAttachments=true')).json.pagination.total).toBe(0)
      const between = '/messages?after=1970-01-01T00:16:41Z&before=1970-01-01T00:16:43Z'
      expect(subjects((await get(between)).json)).toEqual(['c', 'b'])
      expect(subjects((await get('/messages?labelId=TRASH')).json)).toEqual(['trashed'])
      expect((await get('/messages?labelId=INBOX')).json.pagination.total).toBe(4)
      box.set('trashed', { folders: ['INBOX'] })
      box.set('late', { folders: ['TRASH'] })
      await same()
      expect((await get('/messages')).json.pagination.total).toBe(6)
      expect(subjects((await get('/messages')).json)).toContain('trashed')
    })

    it('returns 409 with the scope to consent to when the granted ones do not allow a live read', async () => {
      const { get, box, service } = await served(kind, open, {
        before: (mailbox) => mailbox.deliver('a'),
      })
      const provider = PROVIDERS[kind]
      const [enough, named] =
        kind === 'whole' ? [google('gmail.readonly'), google('gmail.modify')] : ['Mail.Read', 'Mail.ReadWrite']
      const linkWith = async (...scopes: string[]) => {
        const tokens = { accessToken: 'a', refreshToken: 'r', expiresAt: Date.now() + 3_600_000, scopes }
        await service.linkMailbox(provider, 'ada', tokens)
      }
      const [{ id }] = (await get('/messages')).json.messages
      await linkWith('openid', kind === 'whole' ? google('calendar.readonly') : 'Calendars.Read')
      const refused = await get(`/messages/${id}`)
      expect([refused.status, refused.json.error]).toMatchObject([409, { code: 'consent_required', type: 'api' }])
      expect(refused.json.error.message).toContain(named)
      expect(refused.json.error.details).toEqual([{ path: 'account.tokens.scopes', message: named }])
      expect((await get(`/messages/${id}/raw`)).status).toBe(409)
      expect((await get('/messages')).status).toBe(200)
      await linkWith(enough)
      const error = new ProviderError('rejected', 'the user did not grant it', { missingScope: true })
      box.matchingFailures.push({ on: /^body /, error })
      expect((await get(`/messages/${id}`)).json.error).toMatchObject({ code: 'consent_required' })
      expect((await get(`/messages/${id}`)).status).toBe(200)
    })

    it('lists one label by either id, and refuses an unknown label and mailbox', async () => {
      const { get, box, same } = await served(kind, open, {
        before: (mailbox) => mailbox.deliver('a', { folders: ['Work'] }),
      })
      const [work] = (await get('/labels')).json.labels.filter((label: { name: string }) => label.name === 'Work')
      expect(subjects((await get(`/messages?labelId=${work.id}`)).json)).toEqual(['a'])
      expect(subjects((await get('/messages?labelId=Work')).json)).toEqual(['a'])
      expect((await get('/messages?labelId=Nowhere')).status).toBe(404)
      expect(await get('/messages?mailbox=INBOX')).toMatchObject({
        status: 400,
        json: { error: { code: 'validation_failed', details: [{ path: 'query.mailbox' }] } },
      })
      box.set('a', { folders: ['INBOX'] })
      await same()
      expect(subjects((await get('/messages?labelId=Work')).json)).toEqual([])
    })

    it('lists user labels, and system labels with includeSystem', async () => {
      const { get } = await served(kind, open, { before: (mailbox) => mailbox.addFolder('Label_7', null, 'Receipts') })
      const own = (await get('/labels')).json.labels
      expect(own.map((label: { name: string }) => label.name).sort()).toEqual(['More', 'Receipts', 'Work'])
      expect(own).toContainEqual(
        expect.objectContaining({ providerId: 'Label_7', name: 'Receipts', displayName: 'Receipts', type: 'user' }),
      )
      const all = (await get('/labels?includeSystem=true')).json.labels
      expect(all).toContainEqual(expect.objectContaining({ providerId: 'INBOX', type: 'system', role: 'inbox' }))
      expect(all).toHaveLength(8)
    })

    it('makes HTML safe to show on request, and says when it is too long for that', async () => {
      const html = '<p onclick="x()">Hello<script>x()</script>'
      const { get, ids } = await served(kind, open, {
        before: (mailbox) => {
          mailbox.deliver('a', { text: 'Hello', html })
          mailbox.deliver('long', { text: 'Hello', html: html.padEnd(5_000_001, 'x') })
          mailbox.deliver('text', { text: 'Hello' })
        },
      })
      const { a, long, text } = await ids()
      const readBody = async (id = '', query = '?sanitize=true') => (await get(`/messages/${id}${query}`)).json.body
      expect(await readBody(a)).toEqual({
        text: 'Hello',
        html: expect.stringMatching(/^<section style="[^"]*"><p>Hello<\/p><\/section>$/),
        sanitized: true,
      })
      expect(await readBody(a, '')).toEqual({ text: 'Hello', html })
      expect(await readBody(long)).toEqual({ text: 'Hello', html: null, sanitized: false })
      expect(await readBody(text)).toEqual({ text: 'Hello', html: null, sanitized: true })
      expect((await get(`/messages/${a}?sanitize=perhaps`)).status).toBe(400)
    })

    it('reads contents live after a move, and returns the provider’s failures', async () => {
      const { get, box, ids, same } = await served(kind, open, {
        before: (mailbox) => mailbox.deliver('a', { text: 'hello' }),
      })
      const id = (await ids()).a
      expect((await get(`/messages/${id}`)).json).toMatchObject({
        subject: 'a',
        body: { text: 'hello', html: null },
        headers: [{ name: 'Subject', value: 'a' }],
      })
      await get(`/messages/${id}`)
      expect(box.calls.filter((call) => call.startsWith('body'))).toEqual(['body a'])
      box.set('a', { folders: ['Work'] })
      await same()
      expect((await get(`/messages/${id}/raw`)).text).toBe('Subject: a\r\n\r\nhello')
      const ranges = await Promise.all(
        ['bytes=0-6', 'bytes=-5', 'bytes=99-'].map((range) => get(`/messages/${id}/raw`, { range })),
      )
      expect(ranges.map(({ status, text }) => [status, status === 206 ? text : ''])).toEqual([
        [206, 'Subject'],
        [206, 'hello'],
        [416, ''],
      ])
      expect((await get(`/messages/${id}/raw`, { range: 'bytes=0-0' })).text).toBe('S')
      box.matchingFailures.push({
        on: /^raw /,
        error: new ProviderError('rate_limited', 'slower', { retryAfterMs: 1000 }),
      })
      expect((await get(`/messages/${id}/raw`)).status).toBe(502)
      expect((await get(`/messages/${id}/attachments/1`)).status).toBe(404)
      box.remove('a')
      expect((await get(`/messages/${id}/raw`)).status).toBe(404)
    })
  })
})

describeEachDatabase('a message with several labels', (open) => {
  it('has all its labels and the folder of highest precedence', async () => {
    const { get, box, ids, same, events } = await served('whole', open)
    box.deliver('m', { folders: ['SENT', 'INBOX', 'Work'] })
    box.deliver('archived', { folders: ['Work'] })
    await same()
    const { m, archived } = await ids()
    const message = (await get(`/messages/${m}`)).json
    expect(message).toMatchObject({ folder: 'INBOX' })
    expect(message.labelIds).toHaveLength(3)
    expect((await get(`/messages/${archived}`)).json).toMatchObject({ folder: null })
    for (const label of ['SENT', 'INBOX']) {
      expect(subjects((await get(`/messages?labelId=${label}`)).json)).toEqual(['m'])
    }
    expect((await get('/messages?labelId=Work')).json.pagination.total).toBe(2)
    box.set('m', { folders: ['SENT', 'TRASH', 'Work'] })
    await same()
    expect((await get(`/messages/${m}`)).json).toMatchObject({ folder: 'TRASH' })
    const changed = (await events()).filter((event) => event.type === 'mailbox.changed').slice(-4)
    expect(changed.map(({ data }) => `${data.folder} ${data.added} ${data.updated} ${data.deleted}`).sort()).toEqual([
      'INBOX 0 0 1',
      'SENT 0 1 0',
      'TRASH 1 0 0',
      'Work 0 1 0',
    ])
  })
})

async function served(kind: 'whole' | 'folders', open: Databases, options: SyncedDoubleOptions = {}) {
  const mailbox = await syncedDouble(kind, open, options)
  const app = testServer()
  messageRoutes(app, { reader: mailbox.service.reader })
  labelRoutes(app, { db: mailbox.db, accounts: mailbox.service.accounts, changer: mailbox.service.labels })
  await app.ready()
  onTestFinished(() => app.close())
  await mailbox.same()
  return {
    ...mailbox,
    async get(path: string, more: Record<string, string> = {}) {
      const headers = { authorization: 'Bearer good', ...more }
      const response = await app.inject({ method: 'GET', url: `/accounts/${mailbox.accountId}${path}`, headers })
      const isJson = String(response.headers['content-type']).includes('json')
      return { status: response.statusCode, text: response.body, json: isJson ? response.json() : NO_CONTENT }
    },
  }
}

const google = (name: string) => `https://www.googleapis.com/auth/${name}`

const subjects = (json: { messages: { subject: string }[] }) => json.messages.map((message) => message.subject)
