import { describe, expect, it } from 'vitest'
import { type Databases, describeEachDatabase } from '../../../../test/kit/database/database.ts'
import { PROVIDERS, type SyncedDoubleOptions, syncedDouble } from '../../../../test/kit/mailbox/synced-double.ts'
import { messageApi } from '../../../../test/kit/messages/message-api.ts'
import { ProviderError } from '../../../providers/contract/index.ts'

describe.each(['whole', 'folders'] as const)('changing messages with ids (%s)', (kind) => {
  describeEachDatabase('over the API', (open) => {
    it('changes flags at the provider and here, with one event, which sync does not repeat', async () => {
      const { box, api, same, emitted, ids, events } = await served(kind, open)
      const { a = '' } = await ids()
      const changed = await api.patch(a, { unread: false, starred: true })
      expect(changed).toMatchObject({ status: 200, json: { id: a, unread: false, starred: true, folder: 'INBOX' } })
      expect(box.state.messages.a).toMatchObject({ unread: false, starred: true })
      expect((await api.get('/messages?unread=true')).json.messages).toHaveLength(1)
      expect(await emitted()).toEqual(['message.updated a 2'])
      await same()
      await api.patch(a, { unread: false })
      await same()
      expect(await emitted()).toEqual(['message.updated a 2'])
      const folders = (await events()).filter((event) => event.type === 'mailbox.changed')
      expect(folders.at(-1)?.data).toMatchObject({ folder: 'INBOX', added: 0, updated: 1, deleted: 0 })
    })

    it('replaces the labels, with one event', async () => {
      const { box, api, same, emitted, ids } = await served(kind, open)
      const { a = '' } = await ids()
      const [inbox, work] = [await api.label('INBOX'), await api.label('Work')]
      const moved = await api.patch(a, { labelIds: ['Work'] })
      expect(moved).toMatchObject({ status: 200, json: { labelIds: [work] } })
      expect(box.state.messages.a?.folders).toEqual(['Work'])
      expect((await api.get('/messages?labelId=Work')).json.pagination.total).toBe(1)
      const both = await api.patch(a, { labelIds: [inbox, work] })
      if (kind === 'whole') expect(both.json).toMatchObject({ labelIds: [inbox, work].sort(), folder: 'INBOX' })
      else expect(both).toMatchObject({ status: 409, json: { error: { code: 'not_supported' } } })
      await same()
      expect(await emitted()).toEqual(
        kind === 'whole' ? ['message.updated a 2', 'message.updated a 3'] : ['message.updated a 2'],
      )
    })

    it('moves to the trash and deletes for good, each with one event', async () => {
      const { box, api, same, emitted, ids } = await served(kind, open)
      const { a = '', b = '' } = await ids()
      expect(await api.remove(a)).toMatchObject({ status: 200, json: { success: true } })
      expect(await api.remove(a)).toMatchObject({ status: 200, json: { success: true } })
      expect(box.state.messages.a?.folders).toEqual(['TRASH'])
      expect((await api.get('/messages')).json.messages).toHaveLength(1)
      expect(await api.remove(b, '?permanent=true')).toMatchObject({ status: 200, json: { success: true } })
      expect(box.state.messages.b).toBeUndefined()
      expect((await api.get(`/messages/${b}`)).status).toBe(404)
      expect((await api.remove(b, '?permanent=true')).status).toBe(404)
      await same()
      expect(await emitted()).toEqual(['message.updated a 2', 'message.deleted b 2'])
    })

    it('changes many messages, with a result for each id in order', async () => {
      const { box, api, same, emitted, ids } = await served(kind, open)
      const { a = '', b = '' } = await ids()
      box.remove('b')
      const results = await api.batch({ ids: [b, 'msg_unknown', a], set: { unread: false, addLabelIds: ['Work'] } })
      expect(results).toMatchObject({
        status: 200,
        json: {
          results: [
            { id: b, success: false, error: { code: 'not_found', type: 'api' } },
            { id: 'msg_unknown', success: false, error: { code: 'not_found' } },
            { id: a, success: true },
          ],
        },
      })
      expect(box.state.messages.a).toMatchObject({
        unread: false,
        folders: kind === 'whole' ? ['INBOX', 'Work'] : ['Work'],
      })
      await same()
      expect((await emitted()).sort()).toEqual(['message.deleted b 2', 'message.updated a 2'])
    })

    it('refuses what cannot be done, and changes nothing', async () => {
      const { box, api, emitted, ids } = await served(kind, open)
      const { a = '' } = await ids()
      const refused = async (body: object) => (await api.patch(a, body)).json.error
      expect(await refused({ labelIds: ['nowhere'] })).toMatchObject({
        code: 'validation_failed',
        details: [{ path: 'body.labelIds.0' }],
      })
      expect(await refused({ unread: 'no' })).toMatchObject({ code: 'validation_failed' })
      const removed = (await api.batch({ ids: [a], set: { removeLabelIds: ['INBOX'] } })).json.results[0]
      if (kind === 'whole') {
        expect(removed).toEqual({ id: a, success: true })
        expect(await refused({ labelIds: ['SENT'] })).toMatchObject({ code: 'not_supported' })
      } else {
        expect(removed).toMatchObject({ success: false, error: { code: 'not_supported' } })
        expect(await refused({ labelIds: [] })).toMatchObject({ code: 'not_supported' })
        expect(await emitted()).toEqual([])
      }
      expect((await api.batch({ ids: Array.from({ length: 501 }, () => a), set: {} })).status).toBe(400)
      expect((await api.patch('msg_unknown', { unread: false })).status).toBe(404)
      expect((await api.request('PATCH', `/messages/${a}`, { unread: false }, 'reader')).status).toBe(403)
      const error = new ProviderError('unavailable', 'changing messages: the provider failed')
      box.matchingFailures.push({ on: /^change$/, error })
      expect((await api.patch(a, { unread: false })).json.error).toMatchObject({ code: 'provider_unavailable' })
      expect(box.state.messages.a?.unread).toBe(true)
    })

    it('returns 409 with the scope to consent to', async () => {
      const { api, ids, service } = await served(kind, open)
      const { a = '' } = await ids()
      const linkWith = (scopes: string[]) =>
        service.linkMailbox(PROVIDERS[kind], 'ada', {
          accessToken: 'a',
          refreshToken: 'r',
          expiresAt: Date.now() + 3_600_000,
          scopes,
        })
      const [read, change] = kind === 'whole' ? [google('readonly'), google('modify')] : ['Mail.Read', 'Mail.ReadWrite']
      await linkWith([read])
      const refused = await api.patch(a, { unread: false })
      expect(refused).toMatchObject({ status: 409, json: { error: { code: 'consent_required' } } })
      expect(refused.json.error.message).toContain(change)
      await linkWith([change])
      expect((await api.patch(a, { unread: false })).status).toBe(200)
      const forGood = await api.remove(a, '?permanent=true')
      if (kind === 'folders') return expect(forGood.status).toBe(200)
      expect(forGood).toMatchObject({ status: 409, json: { error: { code: 'consent_required' } } })
      expect(forGood.json.error.message).toContain('https://mail.google.com/')
    })
  })
})

async function served(kind: 'whole' | 'folders', open: Databases, options: SyncedDoubleOptions = {}) {
  const mailbox = await syncedDouble(kind, open, { before: (box) => box.deliverAll(['a', 'b']), ...options })
  return { ...mailbox, api: await messageApi(mailbox) }
}

const google = (name: string) => `https://www.googleapis.com/auth/gmail.${name}`
