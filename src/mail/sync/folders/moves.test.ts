import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { describeOneDatabase } from '../../../../test/kit/database/database.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { syncService } from '../../../../test/kit/mailbox/sync.ts'
import { mail, syncedMailbox } from '../../../../test/kit/mailbox/synced-mailbox.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../../../test/servers/dovecot.ts'
import type { Db } from '../../../platform/db/index.ts'

const WORK = { settings: { folders: ['Work'] } }

describe.skipIf(!dovecotAvailable())('moved messages', () => {
  let server: Dovecot
  beforeAll(async () => {
    server = await startDovecot()
  })
  afterAll(() => server.stop())

  describeOneDatabase('between folders and UIDVALIDITY values', 'postgres', (open) => {
    it('keep their ids in another synced folder, with one `message.updated` each', async () => {
      const { box, same, ids, received, events } = await syncedMailbox(server, open, {
        ...WORK,
        before: (box) => box.create('Work').then(() => box.deliver('a', 'b')),
      })
      await box.deliver('c')
      await received('c')
      const before = await ids()
      await box.move('a', 'Work')
      await box.move('c', 'Work')
      await same()
      expect(await ids()).toEqual(before)
      await box.move('a', 'INBOX', 'Work')
      await same()
      expect(await ids()).toEqual(before)
      await received('c')
      const updates = (await events()).filter((event) => event.type === 'message.updated')
      expect(updates.map((event) => `${event.data.subject} ${event.data.folder} ${event.version}`)).toEqual([
        'a Work 2',
        'c Work 2',
        'a INBOX 3',
      ])
      expect((await events()).filter((event) => event.type === 'message.deleted')).toEqual([])
    })

    it('are recognised when two folders exchange messages at once', async () => {
      const { box, same, ids, received, service, accountId } = await syncedMailbox(server, open, {
        ...WORK,
        before: async (box) => {
          await box.create('Work')
          await box.deliver('a')
          await box.put('Work', 'b')
        },
      })
      const before = await ids()
      await Promise.all([box.move('a', 'Work'), box.move('b', 'INBOX', 'Work')])
      await service.wake(accountId)
      await same()
      expect(await ids()).toEqual(before)
      await received()
    })

    it('a copy out of a folder that was renamed a moment ago is no move, and the folder is recognised', async () => {
      const { box, same, ids, received, service, accountId } = await syncedMailbox(server, open, {
        ...WORK,
        timing: { pollMs: 600_000 },
        before: async (box) => {
          await box.create('Work')
          await box.put('Work', 'a')
        },
      })
      const before = await ids()
      expect(before.a).toHaveLength(1)
      await box.rename('Work', 'Renamed')
      await box.copy('a', 'INBOX', 'Renamed')
      // Announced, while the list of folders is still the old one.
      await eventually(async () => expect((await ids()).a).toHaveLength(2))
      await service.wake(accountId)
      await same(['INBOX', 'Renamed'])
      expect((await ids()).a).toContain(before.a?.[0])
      await received()
    })

    it('a copy gets its own id and emits only `mailbox.changed`', async () => {
      const { box, same, ids, received, events } = await syncedMailbox(server, open, {
        ...WORK,
        before: (box) => box.create('Work').then(() => box.deliver('a')),
      })
      await box.copy('a', 'Work')
      await same()
      expect((await ids()).a).toHaveLength(2)
      await received()
      const types = (await events()).map((event) => event.type)
      expect(new Set(types)).toEqual(new Set(['mailbox.changed']))
      expect((await events()).at(-1)?.data).toMatchObject({ folder: 'Work', added: 1, updated: 0, deleted: 0 })
    })

    it('a copy whose original is deleted soon after is a move and keeps the id of the original', async () => {
      const { box, same, ids, received, events } = await syncedMailbox(server, open, {
        ...WORK,
        before: (box) => box.create('Work').then(() => box.deliver('a')),
      })
      const before = await ids()
      await box.copy('a', 'Work')
      await same()
      await box.expunge('a')
      await same()
      expect(await ids()).toEqual(before)
      await received()
      expect((await events()).filter((event) => event.type.startsWith('message.'))).toMatchObject([
        { type: 'message.updated', data: { folder: 'Work' } },
      ])
    })

    it('of a message copied and moved to one folder between two syncs, one keeps the id and the other is a copy', async () => {
      const { db, accountId, box, same, ids, received, service } = await syncedMailbox(server, open, {
        ...WORK,
        before: (box) => box.create('Work').then(() => box.deliver('a')),
      })
      const before = await ids()
      const setPaused = (paused: boolean) => db.transaction((tx) => service.accounts.change(tx, accountId, { paused }))
      await setPaused(true)
      await eventually(() => expect(service.sync.state(accountId)).toMatchObject({ state: 'idle' }))
      await box.copy('a', 'Work')
      await box.move('a', 'Work')
      await setPaused(false)
      await same()
      const after = await ids()
      expect(after.a).toHaveLength(2)
      expect(after.a).toContain(before.a?.[0])
      await received()
    })

    it('a message moved to an unsynced folder is deleted once, and is new when it returns', async () => {
      const { box, same, received, announced } = await syncedMailbox(server, open, {
        before: (box) => box.create('Work').then(),
      })
      await box.deliver('a', 'b')
      await received('a', 'b')
      await box.move('a', 'Work')
      await same()
      expect(await announced('message.deleted')).toEqual(['<a@x>'])
      await box.move('a', 'INBOX', 'Work')
      await received('a', 'a', 'b')
      await same()
    })

    it('messages in Sent, Drafts, Trash and Junk emit the events of their folder', async () => {
      const { box, same, received, announced, events } = await syncedMailbox(server, open)
      await box.put('Sent', 's')
      await box.put('Drafts', 'd')
      await box.put('Trash', 't')
      await box.put('Junk', 'j')
      await same()
      await received()
      expect(await announced('message.sent')).toEqual(['<s@x>'])
      expect(await announced('draft.created')).toEqual(['<d@x>'])
      const folders = (await events())
        .filter((event) => event.type === 'mailbox.changed')
        .map((event) => event.data.folder)
      expect(folders.sort()).toEqual(['Drafts', 'Junk', 'Sent', 'Trash'])
    })

    it('a UIDVALIDITY change keeps every id and announces only messages that arrived since', async () => {
      const old = { date: 'Mon, 05 Jan 2026 10:00:00 +0000' }
      const { db, box, user, same, ids, received, announced, service } = await syncedMailbox(server, open, {
        before: async (box) => {
          for (const id of ['a', 'b', 'c']) {
            await server.deliver(box.user, mail(id, old), { date: new Date('2026-01-05T10:00:00Z') })
          }
        },
      })
      await box.deliver('n1')
      await received('n1')
      const before = await ids()
      await service.stop()
      await box.renumber('INBOX', 1_999_999_999)
      await box.expunge('b')
      await server.deliver(user, mail('appended'), { date: new Date('2026-02-01T10:00:00Z') })
      await box.deliver('n2')
      const again = syncService(db, { timing: { pollMs: 400 } })
      onTestFinished(() => again.stop())
      await again.start()
      await same()
      const { b, ...rest } = before
      const { n2, appended, ...after } = await ids()
      expect(b).toHaveLength(1)
      expect(after).toEqual(rest)
      expect([n2, appended].flat()).toHaveLength(2)
      await received('n1', 'n2')
      expect(await announced('message.deleted')).toEqual(['<b@x>'])
    })

    it('a renamed folder keeps its label and message ids, and is still synced', async () => {
      const { db, box, accountId, same, ids, received, events } = await syncedMailbox(server, open, {
        ...WORK,
        before: (box) => box.create('Work').then(() => box.put('Work', 'a', 'b', 'c')),
      })
      const before = await ids()
      const label = await findLabel(db, accountId, 'Work')
      await box.rename('Work', 'Projects')
      await eventually(async () => expect((await findLabel(db, accountId, 'Projects'))?.id).toBe(label?.id))
      await box.put('Projects', 'd')
      await same(['INBOX', 'Projects'])
      const { d, ...rest } = await ids()
      expect(d).toHaveLength(1)
      expect(rest).toEqual(before)
      await received('d')
      expect((await events()).filter((event) => event.type === 'message.deleted')).toEqual([])
    })

    it('a deleted folder deletes its messages and its label', async () => {
      const { db, box, accountId, same, announced } = await syncedMailbox(server, open, {
        ...WORK,
        before: (box) => box.create('Work').then(() => box.put('Work', 'a', 'b')),
      })
      await box.drop('Work')
      await same()
      expect(await announced('message.deleted')).toEqual(['<a@x>', '<b@x>'])
      await eventually(async () => expect(await findLabel(db, accountId, 'Work')).toBeUndefined())
    })

    it('a folder that appears is synced at once, and messages received since are announced', async () => {
      const { box, same, received } = await syncedMailbox(server, open, WORK)
      await box.create('Work')
      await box.put('Work', 'a')
      await received('a')
      await same()
    })

    it('two identical messages are two rows, each announced, and each keeps its row when moved', async () => {
      const { box, same, ids, received } = await syncedMailbox(server, open, {
        ...WORK,
        before: (box) => box.create('Work').then(),
      })
      await server.deliverMany(box.user, [mail('twin'), mail('twin')])
      await received('twin', 'twin')
      const before = await ids()
      expect(before.twin).toHaveLength(2)
      await box.move('twin', 'Work')
      await same()
      expect(await ids()).toEqual(before)
      await received('twin', 'twin')
    })
  })
})

async function findLabel(db: Db, accountId: string, path: string) {
  return db.read
    .selectFrom('labels')
    .selectAll()
    .where('accountId', '=', accountId)
    .where('providerId', '=', path)
    .executeTakeFirst()
}
