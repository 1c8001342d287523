import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeOneDatabase } from '../../../../test/kit/database/database.ts'
import { serverMessages, storedMessages } from '../../../../test/kit/mailbox/mailbox-state.ts'
import { mail, type SyncedMailboxOptions, syncedMailbox } from '../../../../test/kit/mailbox/synced-mailbox.ts'
import { messageApi } from '../../../../test/kit/messages/message-api.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../../../test/servers/dovecot.ts'

const servers: Record<string, string[]> = { 'on Dovecot': [], 'without MOVE and UIDPLUS': ['MOVE', 'UIDPLUS'] }

describe.skipIf(!dovecotAvailable()).each(Object.entries(servers))(
  'changing IMAP messages %s',
  (_, hideCapabilities) => {
    let server: Dovecot
    beforeAll(async () => {
      server = await startDovecot({ hideCapabilities })
    })
    afterAll(() => server.stop())

    describeOneDatabase('over the API', 'sqlite', (open) => {
      async function served(options: SyncedMailboxOptions = {}) {
        const mailbox = await syncedMailbox(server, open, { before: (box) => box.deliver('a', 'b', 'c'), ...options })
        const updates = async () =>
          (await mailbox.events())
            .filter((event) => event.type !== 'mailbox.changed')
            .map((event) => `${event.type} ${event.data.subject} ${event.data.folder} ${event.version}`)
        return { ...mailbox, updates, api: await messageApi(mailbox) }
      }

      it('marks, moves, bins and deletes, visible at once, with one event each', async () => {
        const { api, ids, same, updates, db, user, accountId } = await served()
        const { a: [a = ''] = [], b: [b = ''] = [], c: [c = ''] = [] } = await ids()
        expect((await api.patch(a, { unread: false, starred: true })).json).toMatchObject({
          unread: false,
          starred: true,
        })
        expect(await storedMessages(db, accountId)).toEqual(await serverMessages(server, user, ['INBOX']))
        const moved = await api.patch(a, { labelIds: ['Archive'] })
        expect(moved).toMatchObject({
          status: 200,
          json: { folder: 'Archive', labelIds: [await api.label('Archive')] },
        })
        expect((await api.get('/messages?labelId=Archive')).json.pagination.total).toBe(1)
        expect((await api.remove(b)).status).toBe(200)
        expect((await api.remove(c, '?permanent=true')).status).toBe(200)
        expect((await api.get('/messages')).json.messages).toEqual([])
        await same()
        expect(await ids()).toEqual({ a: [a], b: [b] })
        expect(await updates()).toEqual([
          'message.updated a INBOX 2',
          'message.updated a Archive 3',
          'message.updated b Trash 2',
          'message.deleted c INBOX 2',
        ])
        expect((await api.patch(a, { labelIds: ['INBOX'], starred: false })).json).toMatchObject({ folder: 'INBOX' })
        await same()
        expect((await updates()).at(-1)).toBe('message.updated a INBOX 4')
      })

      it('moves to a folder that is not synced, and back, under the same id', async () => {
        const { api, ids, same, updates, box } = await served({
          before: async (mailbox) => {
            await mailbox.create('Deep')
            await mailbox.deliver('a')
          },
        })
        const { a: [a = ''] = [] } = await ids()
        expect((await api.patch(a, { labelIds: ['Deep'] })).json).toMatchObject({ folder: 'Deep' })
        expect((await api.get('/messages?labelId=Deep')).json.messages).toMatchObject([{ id: a }])
        await box.deliver('d')
        await same()
        expect((await api.patch(a, { labelIds: ['INBOX'] })).json).toMatchObject({ id: a, folder: 'INBOX' })
        await same()
        expect((await updates()).filter((text) => text.includes(' a '))).toEqual([
          'message.updated a Deep 2',
          'message.updated a INBOX 3',
        ])
      })

      it('moves a message while another client copies it elsewhere, without announcing it again', async () => {
        const { api, ids, same, received, announced, user } = await served({
          settings: { folders: ['Work'] },
          before: async (mailbox) => {
            await mailbox.create('Work')
            await mailbox.put('INBOX', 'a')
          },
        })
        const { a: [a = ''] = [] } = await ids()
        const copy = mail('a', { headers: ['X-OfflineIMAP: x1-Work'] })
        const [moved] = await Promise.all([
          api.patch(a, { labelIds: ['Archive'] }),
          server.deliver(user, copy, { folder: 'Work', date: new Date('2026-03-01T10:00:00Z') }),
        ])
        expect(moved.status).toBe(200)
        await same()
        expect((await ids()).a).toHaveLength(2)
        expect((await api.get(`/messages/${a}`)).json).toMatchObject({ id: a, folder: 'Archive' })
        await received()
        expect(await announced('message.deleted')).toEqual([])
      })

      it('changes messages of several folders in one batch', async () => {
        const { api, ids, same, updates, user } = await served()
        const { a: [a = ''] = [], b: [b = ''] = [], c: [c = ''] = [] } = await ids()
        await api.patch(b, { labelIds: ['Archive'] })
        await same()
        const { json } = await api.batch({ ids: [a, b, c], set: { unread: false, addLabelIds: ['Trash'] } })
        expect(json.results).toEqual([a, b, c].map((id) => ({ id, success: true })))
        const states = (await serverMessages(server, user, ['Trash'])).map((state) => state.replace(/ \d+ /, ' '))
        expect(states.sort()).toEqual(['a', 'b', 'c'].map((id) => `Trash <${id}@x> read`))
        await same()
        // Flags and folder are two commands: a sync between them announces a message that is read and not yet moved.
        const moves = (await updates()).filter((text) => /(Archive|Trash) \d+$/.test(text))
        expect(moves.map((text) => text.replace(/ \d+$/, '')).sort()).toEqual([
          'message.updated a Trash',
          'message.updated b Archive',
          'message.updated b Trash',
          'message.updated c Trash',
        ])
      })
    })
  },
)
