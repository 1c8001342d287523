import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Databases, describeEachDatabase, describeOneDatabase } from '../../../test/kit/database/database.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { type SyncedDoubleOptions, syncedDouble } from '../../../test/kit/mailbox/synced-double.ts'
import { mail, syncedMailbox } from '../../../test/kit/mailbox/synced-mailbox.ts'
import { draftApi } from '../../../test/kit/messages/draft-api.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../../test/servers/dovecot.ts'
import { otherClient } from '../../../test/servers/imap-mailbox.ts'
import { type IdMailProvider, ProviderError } from '../../providers/contract/index.ts'

const NEW = {
  to: ['Bob <bob@example.com>', 'eve@example.com'],
  cc: ['"Okafor, Ada" <ada@example.com>'],
  bcc: ['hidden@example.com'],
  subject: 'Über 100 €',
  body: 'Grüße\nzwei',
}

describe.each(['whole', 'folders'] as const)('drafts of a mailbox with message ids (%s)', (kind) => {
  const describeDatabases: typeof describeEachDatabase = (title, suite) =>
    kind === 'whole' ? describeEachDatabase(title, suite) : describeOneDatabase(title, 'sqlite', suite)
  describeDatabases('over the API', (open) => {
    it('saves, reads, changes and deletes a draft here and at the provider, with one event each', async () => {
      const { box, api, same, types, messages } = await served(kind, open)
      const created = await api.post('/drafts', { accountId: api.accountId, ...NEW })
      expect(created.status).toBe(200)
      const { id } = created.json
      expect(created.json).toMatchObject({ ...NEW, isHtml: false, version: 1, accountId: api.accountId })
      expect(id).toBe(created.json.messageId.replace('msg_', 'drf_'))
      expect((await api.get(`/drafts/${id}`)).json).toEqual(created.json)
      expect(await messages()).toMatchObject([{ id: created.json.messageId, subject: NEW.subject }])
      await same()
      const changed = await api.put(`/drafts/${id}`, { to: [], body: '<p>Hello</p>', isHtml: true })
      const after = {
        ...created.json,
        to: [],
        body: '<p>Hello</p>',
        isHtml: true,
        version: 2,
        updatedAt: expect.any(String),
      }
      expect(changed).toMatchObject({ status: 200, json: after })
      expect((await api.get(`/drafts/${id}`)).json).toEqual(changed.json)
      expect(Object.values(box.state.messages)).toHaveLength(1)
      await same()
      expect(await api.remove(`/drafts/${id}`)).toMatchObject({ status: 200, json: { success: true } })
      expect(box.state.messages).toEqual({})
      expect((await api.get(`/drafts/${id}`)).status).toBe(404)
      expect((await api.remove(`/drafts/${id}`)).status).toBe(404)
      await same()
      expect(await types()).toEqual(['draft.created 1', 'draft.updated 2', 'draft.deleted 3'])
    })

    it('does not undo what another program has saved, or deleted, and sync has stored during a change', async () => {
      let meanwhile: (() => Promise<void>) | undefined
      /** Runs `meanwhile` once, before the draft that was saved is stored. */
      const mailAs = (mail: IdMailProvider): IdMailProvider => ({
        ...mail,
        liveReads(access) {
          const reads = mail.liveReads(access)
          return {
            ...reads,
            async getBody(ref) {
              const body = await reads.getBody(ref)
              const work = meanwhile
              meanwhile = undefined
              await work?.()
              return body
            },
          }
        },
      })
      const { box, api, same, types } = await served(kind, open, { mailAs })
      // The removal of a version and the next one are in one step.
      box.pageSize = 100
      const { id } = (await api.post('/drafts', { accountId: api.accountId, ...NEW })).json
      await same()
      meanwhile = async () => {
        const [draft] = Object.values(box.state.messages)
        if (draft === undefined) throw new Error('there is no draft')
        if (kind === 'folders') box.set(draft.id, { subject: 'Other' })
        else {
          box.remove(draft.id)
          box.deliver('edited', { ...draft, id: 'edited', subject: 'Other' })
        }
        await same()
      }
      expect(await api.put(`/drafts/${id}`, { subject: 'Mine' })).toMatchObject({
        status: 200,
        json: { id, subject: 'Other' },
      })
      expect((await api.get(`/drafts/${id}`)).json).toMatchObject({ id, subject: 'Other' })
      await same()

      meanwhile = async () => {
        for (const draft of Object.keys(box.state.messages)) box.remove(draft)
        await same()
      }
      expect((await api.put(`/drafts/${id}`, { subject: 'Mine' })).status).toBe(404)
      await same()
      expect((await types()).at(-1)).toMatch(/^draft.deleted /)
    })

    it('saves attachments from base64, files and stored messages, and replaces them when given', async () => {
      const { box, api, same } = await served(kind, open)
      const file = {
        id: '2',
        filename: 'old.txt',
        contentType: 'text/plain',
        sizeBytes: 3,
        inline: false,
        contentId: null,
      }
      box.deliver('received', { parsed: { attachments: [file] }, files: { 2: Buffer.from('old').toString('base64') } })
      await same()
      const [received] = (await api.get(`/accounts/${api.accountId}/messages`)).json.messages
      const base64 = { filename: 'a.txt', contentType: 'text/plain', content: Buffer.from('one').toString('base64') }
      const stored = { messageId: received.id, attachmentId: '2' }
      const created = await api.upload('POST', '/drafts', {
        message: {
          accountId: api.accountId,
          ...NEW,
          attachments: [base64, { part: 'logo', contentId: 'logo' }, stored],
        },
        files: { logo: 'PNG', report: 'report' },
      })
      expect(created.status).toBe(200)
      const shown = (draft: { attachments: { filename: string; inline: boolean }[] }) =>
        draft.attachments.map(({ filename, inline }) => `${filename}${inline ? ' inline' : ''}`)
      expect(shown(created.json)).toEqual(['a.txt', 'logo.bin inline', 'old.txt', 'report.bin'])
      const { id, messageId, attachments } = created.json
      const bytes = async (attachmentId: string) =>
        (await api.raw(`/accounts/${api.accountId}/messages/${messageId}/attachments/${attachmentId}`)).body
      expect(await Promise.all(attachments.map((attachment: { id: string }) => bytes(attachment.id)))).toEqual([
        'one',
        'PNG',
        'old',
        'report',
      ])

      const kept = await api.put(`/drafts/${id}`, { subject: 'Changed' })
      expect(shown(kept.json)).toEqual(shown(created.json))
      const second = { messageId, attachmentId: kept.json.attachments[1].id, contentId: 'logo' }
      const replaced = await api.upload('PUT', `/drafts/${id}`, {
        message: { attachments: [second] },
        files: { new: 'x' },
      })
      expect(shown(replaced.json)).toEqual(['logo.bin inline', 'new.bin'])
      expect(await bytes(replaced.json.attachments[0].id)).toBe('PNG')
      expect(shown((await api.put(`/drafts/${id}`, { attachments: [] })).json)).toEqual([])
      await same()
      expect((await api.get(`/drafts/${id}`)).json).toMatchObject({ subject: 'Changed', attachments: [] })
      const refused = await api.put(`/drafts/${id}`, { to: ['x'], attachments: [{ part: 'logo' }] })
      expect(refused.json.error.details).toMatchObject([{ path: 'body.to.0' }, { path: 'body.attachments.0.part' }])
    })

    it('returns the save result with every tracking value', async () => {
      const { api } = await served(kind, open)
      const { status, json } = await api.post(`/accounts/${api.accountId}/drafts`, NEW)
      expect(status).toBe(200)
      const { tracking, ...result } = json.result
      expect(json.success).toBe(true)
      expect(result).toEqual({
        success: true,
        messageId: expect.stringMatching(/^msg_/),
        draftId: result.messageId.replace('msg_', 'drf_'),
        providerMessageId: expect.any(String),
      })
      expect(Object.keys(tracking).sort()).toEqual(['domain', 'headers', 'id', 'pixelUrl', 'snippet', 'token'])
      expect(tracking.headers['X-Service-Tracking-Token']).toBe(tracking.token)
      expect((await api.get(`/drafts/${result.draftId}`)).json).toMatchObject(NEW)
    })

    it('lists drafts of any program, newest first, page by page', async () => {
      const { box, api, same } = await served(kind, open)
      for (const [at, id] of ['a', 'b', 'c'].entries()) {
        const parsed = { to: [{ name: '', email: `${id}@x.test` }] }
        box.deliver(id, {
          folders: ['DRAFT'],
          subject: id,
          text: `text of ${id}`,
          receivedAt: 1_700_000_000_000 + at,
          parsed,
        })
      }
      await same()
      const path = `/accounts/${api.accountId}/drafts`
      const first = (await api.get(`${path}?limit=2`)).json
      expect(first.drafts).toMatchObject([
        { subject: 'c', body: 'text of c', to: ['c@x.test'], isHtml: false },
        { subject: 'b' },
      ])
      expect(first.pagination).toMatchObject({ total: 3, hasNext: true })
      const second = (await api.get(`${path}?limit=2&cursor=${first.pagination.nextCursor}`)).json
      expect(second.drafts.map((draft: { subject: string }) => draft.subject)).toEqual(['a'])
      expect((await api.get(`${path}?limit=2&page=2`)).json.drafts).toEqual(second.drafts)
    })

    it('shows what another program wrote, and then 409 for the version from before', async () => {
      const { box, api, same, types } = await served(kind, open)
      const { json: draft } = await api.post('/drafts', { accountId: api.accountId, ...NEW })
      await same()
      const [message] = Object.values(box.state.messages)
      if (message === undefined) throw new Error('there is no draft')
      const edited = { subject: 'edited', text: 'theirs', html: null }
      if (kind === 'folders') box.set(message.id, edited)
      else {
        box.remove(message.id)
        box.deliver('theirs', { ...message, ...edited, id: 'theirs' })
      }
      const stale = await api.put(`/drafts/${draft.id}`, { subject: 'mine' }, { 'if-match': '"1"' })
      expect(stale).toMatchObject({ status: 409, json: { error: { code: 'conflict' } } })
      expect(stale.json.error.current).toMatchObject({ id: draft.id, subject: 'edited', body: 'theirs', version: 2 })
      await same()
      expect((await api.get(`/drafts/${draft.id}`)).json).toMatchObject({ subject: 'edited', to: NEW.to })
      const current = await api.put(`/drafts/${draft.id}`, { subject: 'mine' }, { 'if-match': '2' })
      expect(current).toMatchObject({ status: 200, json: { subject: 'mine', body: 'theirs', version: 3 } })
      await same()
      expect(await types()).toEqual(['draft.created 1', 'draft.updated 2', 'draft.updated 3'])
    })

    it('responds with 404 once another program has deleted the draft', async () => {
      const { box, api, same, types } = await served(kind, open)
      const { json: draft } = await api.post('/drafts', { accountId: api.accountId, ...NEW })
      for (const id of Object.keys(box.state.messages)) box.remove(id)
      expect((await api.put(`/drafts/${draft.id}`, { subject: 'x' })).status).toBe(404)
      expect(box.state.messages).toEqual({})
      await same()
      expect((await api.get(`/drafts/${draft.id}`)).status).toBe(404)
      expect(await types()).toEqual(['draft.created 1', 'draft.deleted 2'])
    })

    it('runs concurrent changes one after the other, each complete', async () => {
      const { box, api, same, types } = await served(kind, open)
      const { json: draft } = await api.post('/drafts', { accountId: api.accountId, ...NEW })
      const edits = Array.from({ length: 5 }, (_, n) => ({
        subject: `subject ${n}`,
        body: `body ${n}`,
        to: [`to${n}@x.test`],
      }))
      const results = await Promise.all(edits.map((edit) => api.put(`/drafts/${draft.id}`, edit)))
      expect(results.map(({ status }) => status)).toEqual(edits.map(() => 200))
      const last = results.find(({ json }) => json.version === 6)?.json
      expect(edits).toContainEqual({ subject: last.subject, body: last.body, to: last.to })
      expect(Object.values(box.state.messages)).toMatchObject([{ subject: last.subject, text: last.body }])
      await same()
      expect((await api.get(`/drafts/${draft.id}`)).json).toEqual(last)
      expect(await types()).toHaveLength(6)
    })

    it('saves one draft for repeated requests, also when a response of the provider was lost', async () => {
      const { box, api, same, types } = await served(kind, open)
      const request = { accountId: api.accountId, ...NEW }
      const error = new ProviderError('unavailable', 'saving a draft: the provider failed')
      box.matchingFailures.push({ on: /^create draft$/, error })
      const first = await api.post('/drafts', request, { 'idempotency-key': 'one' })
      expect(first.status).toBe(200)
      expect((await api.post('/drafts', request, { 'idempotency-key': 'one' })).json).toEqual(first.json)
      expect(Object.values(box.state.messages)).toHaveLength(1)
      await same()
      expect(await types()).toEqual(['draft.created 1'])
    })

    it('ends with one draft when the process dies between the response of the provider and the commit', async () => {
      const { db, box, api, same, types, service, messages } = await served(kind, open)
      await service.drafts.create(api.accountId, NEW, { requestKey: 'key' })
      expect(Object.values(box.state.messages)).toHaveLength(1)
      expect(await messages()).toEqual([])
      await same()
      const [{ id = '' }] = await messages()
      expect(await types()).toEqual(['draft.created 1'])
      const commit = await service.drafts.create(api.accountId, NEW, { requestKey: 'key' })
      const { draft } = await db.transaction((tx) => commit(tx))
      expect(draft).toMatchObject({ ...NEW, messageId: id })
      expect(Object.values(box.state.messages)).toHaveLength(1)
      await same()
      expect((await api.get(`/drafts/${draft.id}`)).json).toEqual(draft)
      expect(await types()).toEqual(['draft.created 1'])
    })

    it('refuses what is not valid, without saving anything', async () => {
      const { box, api, service } = await served(kind, open)
      const { json: draft } = await api.post('/drafts', { accountId: api.accountId, ...NEW })
      const refused = async (body: object) =>
        (await api.post('/drafts', { accountId: api.accountId, ...NEW, ...body })).json.error
      expect(await refused({ to: ['x', 'b@x.test\r\nBcc: c@x.test'] })).toMatchObject({
        code: 'validation_failed',
        details: [{ path: 'body.to.0' }, { path: 'body.to.1' }],
      })
      expect(await refused({ subject: '' })).toMatchObject({ details: [{ path: 'body.subject' }] })
      expect(await refused({ body: '' })).toMatchObject({ details: [{ path: 'body.body' }] })
      expect((await api.post('/drafts', { ...NEW, accountId: 'acc_unknown' })).status).toBe(404)
      expect((await api.put(`/drafts/${draft.id}`, { cc: ['nobody'] })).json.error.details).toMatchObject([
        { path: 'body.cc.0' },
      ])
      expect((await api.put(`/drafts/${draft.id}`, {}, { 'if-match': 'x' })).status).toBe(400)
      expect((await api.get('/drafts/drf_unknown')).status).toBe(404)
      expect((await api.put('/drafts/msg_unknown', {})).status).toBe(404)
      expect((await api.request('POST', '/drafts', {}, { authorization: 'Bearer reader' })).status).toBe(403)
      expect(Object.values(box.state.messages)).toHaveLength(1)
      const scopes = [kind === 'whole' ? 'https://www.googleapis.com/auth/gmail.readonly' : 'Mail.Read']
      const tokens = { accessToken: 'a', refreshToken: 'r', expiresAt: Date.now() + 3_600_000, scopes }
      await service.linkMailbox(kind === 'whole' ? 'gmail' : 'microsoft', 'ada', tokens)
      expect((await api.put(`/drafts/${draft.id}`, {})).json.error).toMatchObject({ code: 'consent_required' })
    })
  })
})

async function served(kind: 'whole' | 'folders', open: Databases, options: SyncedDoubleOptions = {}) {
  const mailbox = await syncedDouble(kind, open, options)
  const api = await draftApi(mailbox)
  return {
    ...mailbox,
    ...watched(mailbox.events),
    api,
    messages: async () => (await api.get(`/accounts/${api.accountId}/messages`)).json.messages,
  }
}

function watched(events: () => Promise<{ type: string; version: number | null }[]>) {
  return {
    types: async () =>
      (await events())
        .filter(({ type }) => type !== 'mailbox.changed')
        .map(({ type, version }) => `${type} ${version}`),
  }
}

describe.skipIf(!dovecotAvailable())('drafts of an imap mailbox', () => {
  let server: Dovecot
  beforeAll(async () => {
    server = await startDovecot()
  })
  afterAll(() => server.stop())

  describeEachDatabase('over the API', (open) => {
    it('saves, changes and deletes a draft, which other programs edit too, with one event each', async () => {
      const mailbox = await syncedMailbox(server, open)
      const { user, same, ids } = mailbox
      const { types } = watched(mailbox.events)
      const api = await draftApi(mailbox)
      const client = <T>(work: Parameters<typeof otherClient<T>>[3]) => otherClient(server, user, 'one', work)
      const { json: draft } = await api.post('/drafts', { accountId: api.accountId, ...NEW })
      expect(draft).toMatchObject({ ...NEW, version: 1 })
      await same()
      expect((await api.put(`/drafts/${draft.id}`, { subject: 'two' })).json).toMatchObject({
        ...NEW,
        subject: 'two',
        version: 2,
      })
      await same()
      expect((await api.get(`/accounts/${api.accountId}/drafts`)).json.drafts).toMatchObject([
        { id: draft.id, subject: 'two' },
      ])

      await client(async (other) => {
        const { exists } = await other.mailboxOpen('Drafts')
        expect(exists).toBe(1)
        const row = await other.fetchOne('*', { envelope: true, flags: true, uid: true })
        if (!row) throw new Error('there is no draft')
        expect([...(row.flags ?? [])].sort()).toEqual(['\\Draft', '\\Seen'])
        expect(row.envelope?.bcc?.map(({ address }) => address)).toEqual(NEW.bcc)
        const messageId = row.envelope?.messageId ?? ''
        expect(messageId).toContain(draft.id)
        await other.append('Drafts', mail('x', { messageId, subject: 'theirs' }), ['\\Draft', '\\Seen'])
        await other.messageDelete(String(row.uid), { uid: true })
      })
      await same()
      await eventually(async () => expect((await types()).at(-1)).toBe('draft.updated 3'))
      expect((await api.get(`/drafts/${draft.id}`)).json).toMatchObject({
        subject: 'theirs',
        isHtml: false,
        version: 3,
      })
      expect((await api.put(`/drafts/${draft.id}`, { body: 'mine' })).json).toMatchObject({
        subject: 'theirs',
        body: 'mine',
      })
      await same()
      expect(Object.values(await ids())).toEqual([[draft.messageId]])
      expect((await api.remove(`/drafts/${draft.id}`)).status).toBe(200)
      await same()
      expect(await types()).toEqual([
        'draft.created 1',
        'draft.updated 2',
        'draft.updated 3',
        'draft.updated 4',
        'draft.deleted 5',
      ])
    })
  })
})
