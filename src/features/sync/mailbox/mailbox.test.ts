import { describe, expect, it, onTestFinished } from 'vitest'
import { describeEachDatabase } from '../../../../test/kit/database.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import type { MailboxDouble } from '../../../../test/kit/mailbox-double.ts'
import { mailboxInStep, PROVIDERS, QUIET } from '../../../../test/kit/mailbox-in-step.ts'
import { syncService } from '../../../../test/kit/sync.ts'
import { connected } from '../../../../test/kit/synced-mailbox.ts'
import { ProviderError } from '../../../providers/contract/index.ts'
import { eraseMessages } from '../../messages/index.ts'

const KINDS = ['whole', 'folders'] as const

describe.each(KINDS)('a mailbox whose mails have ids (%s)', (kind) => {
  describeEachDatabase('is kept in step', (open) => {
    it('a first sync stores the newest mails and announces none; what comes then is announced once, in order', async () => {
      const { box, same, received, told, events } = await mailboxInStep(kind, open, {
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
      expect(await told()).toEqual(['message.received n1 1', 'message.received n2 1'])
      expect((await events()).at(-1)).toMatchObject({
        type: 'mailbox.changed',
        data: { folder: 'INBOX', added: 2, updated: 0, deleted: 0 },
      })
    })

    it('stores no more than was asked for, and mail that arrives while it lists is no part of that', async () => {
      const { db, box, received, accountId } = await mailboxInStep(kind, open, {
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

    it('flags are one update each, and nothing that is so already is told', async () => {
      const { box, same, told, look } = await mailboxInStep(kind, open, { before: (mailbox) => mailbox.deliver('a') })
      box.set('a', { unread: false })
      box.set('a', { starred: true })
      await same()
      expect(await told()).toEqual(['message.updated a 2'])
      box.set('a', { unread: true })
      box.set('a', { unread: false })
      await same()
      await look()
      expect(await told()).toEqual(['message.updated a 2'])
    })

    it('mail is told as what it is by where it arrives', async () => {
      const { box, same, told, events } = await mailboxInStep(kind, open)
      box.deliver('s', { folders: ['SENT'] })
      box.deliver('d', { folders: ['DRAFT'] })
      box.deliver('t', { folders: ['TRASH'] })
      box.deliver('j', { folders: ['SPAM'] })
      box.deliver('w', { folders: ['Work'] })
      await same()
      expect((await told()).sort()).toEqual(['draft.created d 1', 'message.received w 1', 'message.sent s 1'])
      const folders = (await events()).filter((event) => event.type === 'mailbox.changed')
      expect(folders.map((event) => event.data.folder).sort()).toEqual(['DRAFT', 'SENT', 'SPAM', 'TRASH', 'Work'])
    })

    it('a draft that is edited in place is a changed draft, and once it is sent it is a sent mail', async () => {
      const { box, same, told, ids } = await mailboxInStep(kind, open, {
        before: (mailbox) => mailbox.deliver('d', { folders: ['DRAFT'], unread: false }),
      })
      const before = await ids()
      box.set('d', { subject: 'better', text: 'words' })
      await same()
      box.set('d', { folders: ['SENT'], receivedAt: Date.now() + 5000 })
      await same()
      expect(await told()).toEqual(['draft.updated d 2', 'message.sent d 3'])
      expect(await ids()).toEqual(before)
    })

    it('mail that leaves is deleted once, also when it came and left between two looks', async () => {
      const { box, same, told, events } = await mailboxInStep(kind, open, {
        before: (mailbox) => mailbox.deliverAll(['a', 'b']),
      })
      box.remove('a')
      box.deliver('x')
      box.remove('x')
      await same()
      expect(await told()).toEqual(['message.deleted a 2'])
      const counted = (await events()).filter((event) => event.type === 'mailbox.changed' && event.data.deleted === 1)
      expect(counted).toMatchObject([{ data: { folder: 'INBOX', added: 0, updated: 0 } }])
    })

    it('a move keeps the id and is one update, whichever folder is looked at first', async () => {
      const { box, same, told, ids, events } = await mailboxInStep(kind, open, {
        before: (mailbox) => mailbox.deliverAll(['a', 'b', 'c'], (n) => (n === 1 ? { folders: ['Work'] } : {})),
      })
      const before = await ids()
      box.set('a', { folders: ['Work'] })
      box.set('b', { folders: ['INBOX'] })
      await same()
      expect((await told()).sort()).toEqual(['message.updated a 2', 'message.updated b 2'])
      box.set('c', { folders: ['More'] })
      box.set('c', { folders: ['INBOX'] })
      await same()
      box.set('a', { folders: ['TRASH'], unread: false })
      await same()
      expect(await ids()).toEqual(before)
      expect((await told()).slice(2)).toEqual(['message.updated a 3'])
      const moved = (await events()).filter((event) => event.type === 'message.updated').at(-1)
      expect(moved?.data).toMatchObject({ folder: 'TRASH', labelIds: [expect.stringMatching(/^lbl_/)], unread: false })
    })

    it('an expired cursor compares: what is missing goes, what is old is quiet, what came since is news', async () => {
      const { box, same, received, told } = await mailboxInStep(kind, open, {
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
      expect((await told()).filter((text) => !text.startsWith('message.received')).sort()).toEqual([
        'message.deleted b 2',
        'message.updated c 2',
      ])
      box.deliver('n4')
      await same()
      await received('n1', 'n2', 'n3', 'n4')
    })

    it('a comparison that was interrupted goes on and ends, and nothing is told twice', async () => {
      const { box, same, received, service, accountId } = await mailboxInStep(kind, open, {
        before: (mailbox) =>
          Array.from({ length: 10 }, (_, n) => mailbox.deliver(`o${n}`, { receivedAt: 1_000_000 + n })),
      })
      for (let n = 0; n < 10; n += 1) box.deliver(`n${n}`)
      box.expireCursors()
      const hiccup = () => void box.failures.push(new ProviderError('unavailable', 'it hiccups'))
      for (let n = 0; n < 12; n += 1) box.script.push(n % 4 === 3 ? hiccup : () => {})
      await same()
      await received(...Array.from({ length: 10 }, (_, n) => `n${n}`))
      await connected(service, accountId)
    })

    it('a label that appears, gets another name, and goes', async () => {
      const { db, box, same, told, events, accountId } = await mailboxInStep(kind, open, {
        timing: { foldersMs: 0 },
        before: (mailbox) => mailbox.deliver('a', { folders: ['Work'] }),
      })
      box.addFolder('New')
      box.deliver('n', { folders: ['New'] })
      await same()
      const before = await labelOf(db, accountId, 'New')
      box.renameFolder('New', 'Newer')
      await same()
      await eventually(async () => expect(await labelOf(db, accountId, 'New')).toMatchObject({ name: 'Newer' }))
      expect((await labelOf(db, accountId, 'New'))?.id).toBe(before?.id)
      expect((await events()).at(-1)).toMatchObject({
        type: 'mailbox.changed',
        objectId: before?.id,
        data: { folder: 'Newer', added: 0, updated: 0, deleted: 0 },
      })
      box.dropFolder('New')
      box.dropFolder('Work', kind === 'folders' ? 'INBOX' : undefined)
      await same()
      await eventually(async () => expect(await labelOf(db, accountId, 'New')).toBeUndefined())
      const first = 'message.received n 1'
      expect(await told()).toEqual(
        kind === 'whole' ? [first, ...(await told()).slice(1)] : [first, 'message.updated a 2', 'message.deleted n 2'],
      )
      if (kind === 'whole') {
        expect((await told()).slice(1).sort()).toEqual(['message.updated a 2', 'message.updated n 2'])
      }
    })

    it('a mail with a label that was made after the last listing has it', async () => {
      const { box, same, received } = await mailboxInStep(kind, open)
      box.addFolder('Fresh')
      box.deliver('n', { folders: ['Fresh'] })
      await same()
      await received('n')
    })

    it('events carry the bodies of new mail where they are wanted', async () => {
      const { box, same, events } = await mailboxInStep(kind, open, {
        settings: { includeBodies: true },
        before: (mailbox) => mailbox.deliver('old'),
      })
      box.deliver('n', { text: 'hello' })
      await same()
      const [news] = (await events()).filter((event) => event.type === 'message.received')
      expect(news?.data.body).toEqual({ text: 'hello', html: null })
      box.set('n', { unread: false })
      await same()
      expect(box.calls.filter((call) => call.startsWith('body'))).toEqual(['body n'])
    })

    it('bodies are kept where that is wanted', async () => {
      const { db, box, same } = await mailboxInStep(kind, open, {
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

    it('an account that is deleted leaves no row behind', async () => {
      const { db, box, same, accountId, service } = await mailboxInStep(kind, open)
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

  describeEachDatabase('goes on in trouble', (open) => {
    it('a rate limit puts off this account, however often it is woken, and no other', async () => {
      const { db, box, service, accountId } = await mailboxInStep(kind, open, { timing: { stalledAfter: 1 } })
      const waited = new ProviderError('rate_limited', 'too many requests', { retryAfterMs: 600_000 })
      box.failures.push(waited)
      await service.wake(accountId)
      await eventually(async () => expect(await service.accounts.get(accountId)).toMatchObject({ status: 'error' }))
      const other = await service.linkMailbox(PROVIDERS[kind], 'bob')
      await connected(service, other)
      const callsOf = async (work: () => Promise<void>) => {
        const before = box.calls.length
        await work()
        return box.calls.length - before
      }
      const one = await callsOf(() => service.synced(other))
      // Hints arrive in order: when the other account has run, the first one was woken too.
      const both = await callsOf(async () => {
        for (let n = 0; n < 3; n += 1) await service.wake(accountId)
        await service.synced(other)
      })
      expect(both).toBe(one)
      const { nextRunAt } = service.sync.state(accountId) ?? {}
      expect(nextRunAt).toBeGreaterThan(Date.now() + 500_000)
      expect(await accountEvents(db, accountId)).toEqual(['account.sync_stalled'])
    })

    it('a pause of nothing is no reason to ask again at once', async () => {
      const { box, service, accountId, same } = await mailboxInStep(kind, open)
      const limits = Array.from({ length: 3 }, () => new ProviderError('rate_limited', 'wait', { retryAfterMs: 0 }))
      box.failures.push(...limits)
      await service.wake(accountId)
      await eventually(() => expect(service.sync.state(accountId)?.attempts).toBeGreaterThan(0))
      await eventually(async () => expect(box.failures).toEqual([]))
      await same()
    })

    it('a refused token ends in auth_error and is tried no more; a new consent goes on where it was', async () => {
      const { db, box, service, accountId, received, same } = await mailboxInStep(kind, open)
      box.failures.push(new ProviderError('auth_expired', 'the consent was revoked'))
      await service.wake(accountId)
      await eventually(async () =>
        expect(await service.accounts.get(accountId)).toMatchObject({ status: 'auth_error' }),
      )
      const asked = box.calls.length
      box.deliver('n')
      await service.synced(accountId)
      await eventually(() => expect(service.sync.state(accountId)).toMatchObject({ state: 'idle' }))
      expect(box.calls.length).toBe(asked)
      expect(await service.linkMailbox(PROVIDERS[kind])).toBe(accountId)
      await received('n')
      await same()
      await connected(service, accountId)
      expect(await accountEvents(db, accountId)).toEqual(['account.auth_error', 'account.updated', 'account.recovered'])
    })

    it('what is temporary never ends in auth_error, and is told only when it lasts', async () => {
      const { db, box, service, accountId, same, received } = await mailboxInStep(kind, open)
      for (let n = 0; n < 4; n += 1) box.failures.push(new ProviderError('unavailable', 'it is down'))
      box.deliver('n')
      await service.wake(accountId)
      await received('n')
      await same()
      await connected(service, accountId)
      expect(await accountEvents(db, accountId)).toEqual(['account.sync_stalled', 'account.recovered'])
    })

    it('an account that is not watched is asked again after the pause of such', async () => {
      const { db, box, service, accountId, received } = await mailboxInStep(kind, open, { timing: { pollMs: 200 } })
      await db.transaction((tx) => service.accounts.change(tx, accountId, { watch: false }))
      box.deliver('n')
      await received('n')
    })

    it('one that is watched is asked as often as its provider says', async () => {
      const { box, received } = await mailboxInStep(kind, open, { pollMs: 150 })
      box.deliver('n')
      await received('n')
    })

    it('an account taken by another process writes nothing more here', async () => {
      const { db, box, service, accountId } = await mailboxInStep(kind, open, {
        owning: { roundMs: 60_000, hintGapMs: 60_000 },
      })
      await db.transaction((tx) =>
        tx
          .updateTable('accounts')
          .set((eb) => ({ epoch: eb('epoch', '+', 1), ownerInstance: 'ins_other' }))
          .where('id', '=', accountId)
          .execute(),
      )
      box.deliver('n')
      const asked = box.calls.length
      await service.wake(accountId)
      await eventually(() => expect(box.calls.length).toBeGreaterThan(asked))
      await service.stop()
      expect(await db.read.selectFrom('messages').select('id').execute()).toEqual([])
    })

    it('a process that starts on a mailbox known already asks only for what changed', async () => {
      const { db, box, service, accountId, same } = await mailboxInStep(kind, open, {
        before: (mailbox) => Array.from({ length: 10 }, (_, n) => mailbox.deliver(`o${n}`)),
      })
      await same()
      await service.stop()
      box.calls.length = 0
      box.deliver('n')
      const again = syncService(db, { mail: box.mail, timing: QUIET })
      onTestFinished(() => again.stop())
      await again.start()
      await eventually(async () => {
        const rows = await db.read.selectFrom('messages').select('id').where('accountId', '=', accountId).execute()
        expect(rows).toHaveLength(11)
      })
      expect(box.calls.filter((call) => call.startsWith('list') || call.startsWith('compare'))).toEqual([])
    })
  })
})

describeEachDatabase('a mail that is between two folders', (open) => {
  const orders: [string, (box: MailboxDouble) => void][] = [
    ['leaves before the look at the one and arrives after the look at the other', (box) => step(box, 'Work', 'INBOX')],
    ['goes back while it is looked for', (box) => step(box, 'INBOX', 'Work')],
  ]
  it.each(orders)('%s: one row, nothing received again, nothing deleted', async (_, move) => {
    const { box, same, told, ids, look } = await mailboxInStep('folders', open, {
      before: (mailbox) => mailbox.deliverAll(['a', 'b']),
    })
    const before = await ids()
    move(box)
    await eventually(async () => {
      await look()
      expect(box.script).toEqual([])
    })
    await same()
    expect(await ids()).toEqual(before)
    expect((await told()).every((text) => text.startsWith('message.updated'))).toBe(true)
  })

  it('a folder that goes while it is read takes nothing along that stands elsewhere', async () => {
    const { box, same, told, ids, look } = await mailboxInStep('folders', open, {
      before: (mailbox) => mailbox.deliver('a', { folders: ['Work'] }),
    })
    const before = await ids()
    box.script.push(
      () => {},
      () => box.dropFolder('Work', 'INBOX'),
    )
    await look()
    await eventually(() => expect(box.script).toEqual([]))
    await same()
    expect(await ids()).toEqual(before)
    expect(await told()).toEqual(['message.updated a 2'])
  })
})

/** Mail `a` moves at one request of the next round, and on at a later one. */
function step(box: MailboxDouble, first: string, then: string): void {
  const nothing = () => {}
  box.script.push(
    ...[nothing, () => box.set('a', { folders: ['More'] }), nothing, nothing, nothing],
    ...[() => box.set('a', { folders: [first] }), nothing, nothing, nothing, () => box.set('a', { folders: [then] })],
  )
}

async function accountEvents(db: Awaited<ReturnType<typeof mailboxInStep>>['db'], accountId: string) {
  const rows = await db.read
    .selectFrom('events')
    .select('type')
    .where('accountId', '=', accountId)
    .where('type', 'like', 'account.%')
    .orderBy('sequence')
    .execute()
  return rows.map((row) => row.type).filter((type) => type !== 'account.connected')
}

async function labelOf(db: Awaited<ReturnType<typeof mailboxInStep>>['db'], accountId: string, path: string) {
  return db.read
    .selectFrom('labels')
    .selectAll()
    .where('accountId', '=', accountId)
    .where('providerId', '=', path)
    .executeTakeFirst()
}
