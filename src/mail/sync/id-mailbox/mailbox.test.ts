import { describe, expect, it } from 'vitest'
import { describeEachDatabase } from '../../../../test/kit/database/database.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import type { MailboxDouble } from '../../../../test/kit/mailbox/double/mailbox-double.ts'
import { syncedDouble } from '../../../../test/kit/mailbox/synced-double.ts'
import { connected } from '../../../../test/kit/mailbox/synced-mailbox.ts'
import { ProviderError, type ScopeSyncRequest } from '../../../providers/contract/index.ts'
import { eraseMessages } from '../../messages/rows/erasure.ts'

const KINDS = ['whole', 'folders'] as const

describe.each(KINDS)('syncing a provider that assigns message ids (%s)', (kind) => {
  describeEachDatabase('stored messages', (open) => {
    it('stores the newest messages without announcing them, then announces each new one once, in order', async () => {
      const { box, same, received, emitted, events } = await syncedDouble(kind, open, {
        before: (mailbox) => {
          for (const id of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']) mailbox.deliver(id)
        },
      })
      await same()
      expect(await events()).toMatchObject([{ type: 'mailbox.changed' }, { type: 'mailbox.changed' }, {}])
      box.deliver('n1', { receivedAt: Date.now() + 1000 })
      box.deliver('n2', { receivedAt: Date.now() + 2000 })
      await same()
      await received('n1', 'n2')
      expect(await emitted()).toEqual(['message.received n1 1', 'message.received n2 1'])
      expect((await events()).at(-1)).toMatchObject({
        type: 'mailbox.changed',
        data: { folder: 'INBOX', added: 2, updated: 0, deleted: 0 },
      })
    })

    it('stores `initialMessages` messages, and also those that arrive while it lists', async () => {
      const { db, box, received, accountId } = await syncedDouble(kind, open, {
        settings: { initialMessages: 5 },
        before: (mailbox) => {
          for (let n = 0; n < 9; n += 1) mailbox.deliver(`old-${n}`, { receivedAt: 1_000_000 + n })
          mailbox.script.push(
            () => {},
            () => {},
            () => mailbox.deliver('meanwhile'),
          )
        },
      })
      await received('meanwhile')
      const rows = await db.read
        .selectFrom('messages')
        .select('providerMessageId')
        .where('accountId', '=', accountId)
        .execute()
      const stored = rows.map((row) => row.providerMessageId).sort()
      expect(stored).toEqual(['meanwhile', 'old-4', 'old-5', 'old-6', 'old-7', 'old-8'])
      expect(box.script).toEqual([])
    })

    it('keeps a message that is reported as removed and still exists', async () => {
      let lie: string | undefined
      const { box, same, emitted, ids } = await syncedDouble(kind, open, {
        before: (mailbox) => mailbox.deliverAll(['a', 'b']),
        mailAs: (mail) => ({
          ...mail,
          openSession(access) {
            const session = mail.openSession(access)
            async function* syncScope(request: ScopeSyncRequest) {
              const { scope, cursor } = request
              if (lie !== undefined && scope === 'INBOX' && cursor !== null) {
                const removed = [lie]
                lie = undefined
                yield { refetched: false, found: [], changed: [], removed, cursor }
              }
              yield* session.syncScope(request)
            }
            return { ...session, syncScope }
          },
        }),
      })
      await same()
      const before = await ids()
      lie = 'a'
      box.remove('b')
      await same()
      expect(await ids()).toEqual({ a: before.a })
      expect(await emitted()).toEqual(['message.deleted b 2'])
    })

    it('emits one update for changed flags, and none when the flags did not change', async () => {
      const { box, same, emitted, sync } = await syncedDouble(kind, open, { before: (mailbox) => mailbox.deliver('a') })
      box.set('a', { unread: false })
      box.set('a', { starred: true })
      await same()
      expect(await emitted()).toEqual(['message.updated a 2'])
      box.set('a', { unread: true })
      box.set('a', { unread: false })
      await same()
      await sync()
      expect(await emitted()).toEqual(['message.updated a 2'])
    })

    it('chooses the event type by the folder in which a message arrives', async () => {
      const { box, same, emitted, events } = await syncedDouble(kind, open)
      box.deliver('s', { folders: ['SENT'] })
      box.deliver('d', { folders: ['DRAFT'] })
      box.deliver('t', { folders: ['TRASH'] })
      box.deliver('j', { folders: ['SPAM'] })
      box.deliver('w', { folders: ['Work'] })
      await same()
      expect((await emitted()).sort()).toEqual(['draft.created d 1', 'message.received w 1', 'message.sent s 1'])
      const folders = (await events()).filter((event) => event.type === 'mailbox.changed')
      expect(folders.map((event) => event.data.folder).sort()).toEqual(['DRAFT', 'SENT', 'SPAM', 'TRASH', 'Work'])
    })

    it('emits only draft events for a draft', async () => {
      const { box, same, emitted } = await syncedDouble(kind, open)
      box.deliver('d', { folders: ['DRAFT'], unread: false })
      await same()
      box.set('d', { starred: true })
      await same()
      box.set('d', { folders: ['TRASH'] })
      await same()
      box.set('d', { folders: ['DRAFT'] })
      await same()
      box.remove('d')
      await same()
      expect(await emitted()).toEqual([
        'draft.created d 1',
        'draft.updated d 2',
        'draft.deleted d 3',
        'draft.created d 4',
        'draft.deleted d 5',
      ])
    })

    it('emits draft.updated for an edited draft, and message.sent once it is sent', async () => {
      const { box, same, emitted, ids } = await syncedDouble(kind, open, {
        before: (mailbox) => mailbox.deliver('d', { folders: ['DRAFT'], unread: false }),
      })
      const before = await ids()
      box.set('d', { subject: 'better', text: 'words' })
      await same()
      box.set('d', { folders: ['SENT'], receivedAt: Date.now() + 5000 })
      await same()
      expect(await emitted()).toEqual(['draft.updated d 2', 'draft.deleted d 3', 'message.sent d 3'])
      expect(await ids()).toEqual(before)
    })

    it('emits one deletion, and nothing for a message that came and went between two syncs', async () => {
      const { box, same, emitted, events } = await syncedDouble(kind, open, {
        before: (mailbox) => mailbox.deliverAll(['a', 'b']),
      })
      box.remove('a')
      box.deliver('x')
      box.remove('x')
      await same()
      expect(await emitted()).toEqual(['message.deleted a 2'])
      const counted = (await events()).filter((event) => event.type === 'mailbox.changed' && event.data.deleted === 1)
      expect(counted).toMatchObject([{ data: { folder: 'INBOX', added: 0, updated: 0 } }])
    })

    it('keeps the id of a moved message and emits one update, whichever folder syncs first', async () => {
      const { box, same, emitted, ids, events } = await syncedDouble(kind, open, {
        before: (mailbox) => mailbox.deliverAll(['a', 'b', 'c'], (n) => (n === 1 ? { folders: ['Work'] } : {})),
      })
      const before = await ids()
      box.set('a', { folders: ['Work'] })
      box.set('b', { folders: ['INBOX'] })
      await same()
      expect((await emitted()).sort()).toEqual(['message.updated a 2', 'message.updated b 2'])
      box.set('c', { folders: ['More'] })
      box.set('c', { folders: ['INBOX'] })
      await same()
      box.set('a', { folders: ['TRASH'], unread: false })
      await same()
      expect(await ids()).toEqual(before)
      expect((await emitted()).slice(2)).toEqual(['message.updated a 3'])
      const moved = (await events()).filter((event) => event.type === 'message.updated').at(-1)
      expect(moved?.data).toMatchObject({ folder: 'TRASH', labelIds: [expect.stringMatching(/^lbl_/)], unread: false })
    })

    it('compares after an expired cursor: deletes missing messages and announces only new ones', async () => {
      const { box, same, received, emitted } = await syncedDouble(kind, open, {
        before: (mailbox) => mailbox.deliverAll(['a', 'b', 'c', 'd', 'e'], (n) => ({ receivedAt: 1_000_000 + n })),
      })
      box.deliver('n1')
      await same()
      box.remove('b')
      box.set('c', { starred: true })
      box.deliver('imported', { receivedAt: 2_000_000 })
      box.deliver('n2')
      box.deliver('n3')
      box.expireCursors()
      await same()
      await received('n1', 'n2', 'n3')
      expect((await emitted()).filter((text) => !text.startsWith('message.received')).sort()).toEqual([
        'message.deleted b 2',
        'message.updated c 2',
      ])
      box.deliver('n4')
      await same()
      await received('n1', 'n2', 'n3', 'n4')
    })

    it('resumes an interrupted comparison without waiting for a poll, and emits nothing twice', async () => {
      const { box, same, received, service, accountId } = await syncedDouble(kind, open, {
        pollMs: 1_000_000,
        before: (mailbox) =>
          Array.from({ length: 10 }, (_, n) => mailbox.deliver(`o${n}`, { receivedAt: 1_000_000 + n })),
      })
      for (let n = 0; n < 10; n += 1) box.deliver(`n${n}`)
      box.expireCursors()
      const fail = () => void box.failures.push(new ProviderError('unavailable', 'temporary failure'))
      for (let n = 0; n < 12; n += 1) box.script.push(n % 4 === 3 ? fail : () => {})
      await same()
      await received(...Array.from({ length: 10 }, (_, n) => `n${n}`))
      await connected(service, accountId)
    })

    it('follows a label that is created, renamed and deleted', async () => {
      const { db, box, same, emitted, events, accountId } = await syncedDouble(kind, open, {
        timing: { foldersMs: 0 },
        before: (mailbox) => mailbox.deliver('a', { folders: ['Work'] }),
      })
      box.addFolder('New')
      box.deliver('n', { folders: ['New'] })
      await same()
      const before = await findLabel(db, accountId, 'New')
      box.renameFolder('New', 'Newer')
      await same()
      await eventually(async () => expect(await findLabel(db, accountId, 'New')).toMatchObject({ name: 'Newer' }))
      expect((await findLabel(db, accountId, 'New'))?.id).toBe(before?.id)
      expect((await events()).at(-1)).toMatchObject({
        type: 'mailbox.changed',
        objectId: before?.id,
        data: { folder: 'Newer', added: 0, updated: 0, deleted: 0 },
      })
      box.dropFolder('New')
      box.dropFolder('Work', kind === 'folders' ? 'INBOX' : undefined)
      await same()
      await eventually(async () => expect(await findLabel(db, accountId, 'New')).toBeUndefined())
      const first = 'message.received n 1'
      expect(await emitted()).toEqual(
        kind === 'whole'
          ? [first, ...(await emitted()).slice(1)]
          : [first, 'message.updated a 2', 'message.deleted n 2'],
      )
      if (kind === 'whole') {
        expect((await emitted()).slice(1).sort()).toEqual(['message.updated a 2', 'message.updated n 2'])
      }
    })

    it('stores a message whose label was created after the last folder listing', async () => {
      const { box, same, received } = await syncedDouble(kind, open)
      box.addFolder('Fresh')
      box.deliver('n', { folders: ['Fresh'] })
      await same()
      await received('n')
    })

    it('includes the bodies of new messages in events with `includeBodies`', async () => {
      const { box, same, events } = await syncedDouble(kind, open, {
        settings: { includeBodies: true },
        before: (mailbox) => mailbox.deliver('old'),
      })
      box.deliver('n', { text: 'hello' })
      await same()
      const [received] = (await events()).filter((event) => event.type === 'message.received')
      expect(received?.data.body).toEqual({ text: 'hello', html: null })
      box.set('n', { unread: false })
      await same()
      expect(box.calls.filter((call) => call.startsWith('body'))).toEqual(['body n'])
    })

    it('stores bodies with `storeBodies`', async () => {
      const { db, box, same } = await syncedDouble(kind, open, {
        storeBodies: true,
        before: (mailbox) => mailbox.deliver('old'),
      })
      box.deliver('n', { text: 'hello', folders: kind === 'whole' ? [] : ['Work'] })
      await same()
      await eventually(async () => {
        const rows = await db.read.selectFrom('messageBodies').select('body').execute()
        expect(rows.map((row) => JSON.parse(row.body ?? '{}').text).sort()).toEqual(['hello', 'old'])
      })
    })

    it('leaves no rows of an erased account', async () => {
      const { db, box, same, accountId, service } = await syncedDouble(kind, open)
      box.deliver('n')
      await same()
      expect(await db.read.selectFrom('messageLabels').select('labelId').execute()).toHaveLength(2)
      await service.stop()
      await db.transaction((tx) => eraseMessages(tx, accountId, 100))
      await db.transaction((tx) => eraseMessages(tx, accountId, 100))
      for (const table of ['messages', 'messageLabels', 'messageCounters'] as const) {
        expect(await db.read.selectFrom(table).selectAll().execute()).toEqual([])
      }
    })
  })
})

describeEachDatabase('a message that moves during a sync', (open) => {
  const orders: [string, (box: MailboxDouble) => void][] = [
    [
      'leaves a folder before it syncs and arrives in another after that has synced',
      (box) => step(box, 'Work', 'INBOX'),
    ],
    ['moves back before its old folder syncs again', (box) => step(box, 'INBOX', 'Work')],
  ]
  it.each(orders)('%s: keeps one row, announces no arrival and no deletion', async (_, move) => {
    const { box, same, emitted, ids, sync } = await syncedDouble('folders', open, {
      before: (mailbox) => mailbox.deliverAll(['a', 'b']),
    })
    const before = await ids()
    move(box)
    await eventually(async () => {
      await sync()
      expect(box.script).toEqual([])
    })
    await same()
    expect(await ids()).toEqual(before)
    expect((await emitted()).every((text) => text.startsWith('message.updated'))).toBe(true)
  })

  it('keeps messages that moved out of a folder deleted during its sync', async () => {
    const { box, same, emitted, ids, sync } = await syncedDouble('folders', open, {
      before: (mailbox) => mailbox.deliver('a', { folders: ['Work'] }),
    })
    const before = await ids()
    box.script.push(
      () => {},
      () => box.dropFolder('Work', 'INBOX'),
    )
    await sync()
    await eventually(() => expect(box.script).toEqual([]))
    await same()
    expect(await ids()).toEqual(before)
    expect(await emitted()).toEqual(['message.updated a 2'])
  })
})

/** Moves message `a` during one request of the next sync, and again during later ones. */
function step(box: MailboxDouble, first: string, then: string): void {
  const nothing = () => {}
  box.script.push(
    nothing,
    () => box.set('a', { folders: ['More'] }),
    nothing,
    nothing,
    nothing,
    () => box.set('a', { folders: [first] }),
    nothing,
    nothing,
    nothing,
    () => box.set('a', { folders: [then] }),
  )
}

async function findLabel(db: Awaited<ReturnType<typeof syncedDouble>>['db'], accountId: string, path: string) {
  return db.read
    .selectFrom('labels')
    .selectAll()
    .where('accountId', '=', accountId)
    .where('providerId', '=', path)
    .executeTakeFirst()
}
