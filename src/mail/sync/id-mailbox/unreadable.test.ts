import { once } from 'node:events'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { describeEachDatabase, describeOneDatabase } from '../../../../test/kit/database/database.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { fileStore, MailboxDouble } from '../../../../test/kit/mailbox/double/mailbox-double.ts'
import { syncService } from '../../../../test/kit/mailbox/sync.ts'
import { PROVIDERS, QUIET, syncedDouble, watchedMailbox } from '../../../../test/kit/mailbox/synced-double.ts'
import { connected } from '../../../../test/kit/mailbox/synced-mailbox.ts'
import { startWorker } from '../../../../test/kit/workers/start.ts'
import type { Db } from '../../../platform/db/index.ts'

/** Pauses that end at once, and that do not end. */
const SOON = { baseMs: 20, capMs: 100 }
const OTHERS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k']

describe.each(['whole', 'folders'] as const)('a message that can never be read (%s)', (kind) => {
  describeEachDatabase('costs only itself', (open) => {
    it('is stored without content after three failures, and once more when it can be read', async () => {
      const { db, box, accountId, service, received, emitted, same } = await syncedDouble(kind, open, {
        timing: { itemRetry: SOON },
        before: (mailbox) => mailbox.deliver('old'),
      })
      box.setUnreadable('p')
      box.deliver('p')
      box.deliverAll(OTHERS)
      await service.wake(accountId)
      await received(...OTHERS)
      await eventually(async () => expect(await emitted()).toContain('message.received p 1'))
      expect(await stored(db, accountId, 'p')).toMatchObject({ subject: '', unread: 1, error: expect.any(String) })
      await connected(service, accountId)
      box.setUnreadable()
      await eventually(async () => expect(await emitted()).toContain('message.updated p 2'))
      await same()
      expect(await stored(db, accountId, 'p')).toMatchObject({ subject: 'p', error: null })
      expect(await rows(db, accountId)).toEqual([])
      expect((await emitted()).filter((event) => event.includes(' p '))).toEqual([
        'message.received p 1',
        'message.updated p 2',
      ])
    })
  })

  describeOneDatabase('costs only itself', 'sqlite', (open) => {
    it('is announced with its content when it can be read before', async () => {
      const { db, box, accountId, service, received, emitted } = await syncedDouble(kind, open, {
        timing: { itemRetry: { baseMs: 300, capMs: 300 } },
        before: (mailbox) => mailbox.deliver('old'),
      })
      box.setUnreadable('p')
      box.deliver('p')
      box.deliver('a')
      await service.wake(accountId)
      await received('a')
      expect(await rows(db, accountId)).toMatchObject([{ itemId: 'p', isStored: 0 }])
      box.setUnreadable()
      await received('a', 'p')
      expect(await emitted()).toEqual(['message.received a 1', 'message.received p 1'])
      await eventually(async () => expect(await rows(db, accountId)).toEqual([]))
    })

    it('is not announced before its time is known, and once when it is', async () => {
      const { db, box, accountId, service, emitted, received } = await syncedDouble(kind, open, {
        timing: { itemRetry: SOON },
        before: (mailbox) => mailbox.deliver('old', { receivedAt: 1_000_000 }),
      })
      box.knowsUnreadable = false
      box.setUnreadable('p', 'q')
      box.deliver('p')
      box.deliver('q', { receivedAt: 1_000_001 })
      box.deliver('a')
      box.expireCursors()
      await service.wake(accountId)
      await received('a')
      await eventually(async () => {
        const failing = await rows(db, accountId)
        expect(failing.every(({ failures }) => failures >= 4)).toBe(true)
      })
      expect(await emitted()).toEqual(['message.received a 1'])
      box.setUnreadable()
      await received('a', 'p')
      await eventually(async () => expect(await rows(db, accountId)).toEqual([]))
      const events = (await emitted()).map((event) => event.split(' ').slice(0, 2).join(' '))
      expect(events.filter((event) => event.endsWith(' p'))).toEqual(['message.received p'])
      expect(events).not.toContain('message.received q')
    })

    it('is forgotten when it is deleted', async () => {
      const { db, box, accountId, service, same } = await syncedDouble(kind, open, {
        timing: { itemRetry: SOON },
        before: (mailbox) => mailbox.deliver('old'),
      })
      box.setUnreadable('p')
      box.deliver('p')
      await service.wake(accountId)
      await eventually(async () => expect(await rows(db, accountId)).toHaveLength(1))
      box.remove('p')
      await eventually(async () => expect(await rows(db, accountId)).toEqual([]))
      await same()
    })

    it('blames the provider while it returns no message at all', async () => {
      const { db, box, accountId, service } = await syncedDouble(kind, open, { timing: { itemRetry: SOON } })
      box.setUnreadable('p')
      box.deliver('p')
      await service.wake(accountId)
      await eventually(() => expect(box.calls.filter((call) => call === 'again p').length).toBeGreaterThan(4))
      expect(await rows(db, accountId)).toMatchObject([{ itemId: 'p', failures: 1, isStored: 0 }])
    })
  })
})

describeEachDatabase('a folder that can never be read', (open) => {
  it('costs only itself, waits longer and longer, and is synced when it can be read', async () => {
    const { db, box, accountId, service, received, same } = await syncedDouble('folders', open, {
      timing: { itemRetry: SOON },
    })
    box.setBroken('More')
    box.deliver('p', { folders: ['More'] })
    box.deliverAll(OTHERS)
    await service.wake(accountId)
    await received(...OTHERS)
    await eventually(async () => {
      await service.synced(accountId)
      expect((await rows(db, accountId, 'folder'))[0]?.failures).toBeGreaterThan(2)
    })
    await connected(service, accountId)
    box.setBroken()
    await eventually(async () => {
      await service.synced(accountId)
      expect(await rows(db, accountId, 'folder')).toEqual([])
    })
    await received(...OTHERS, 'p')
    await same()
  })
})

describeOneDatabase('a folder that can never be read', 'sqlite', (open) => {
  it('stops no other one if it is the inbox, and the status of the account says so', async () => {
    const { db, box, accountId, service, received } = await syncedDouble('folders', open, {
      timing: { itemRetry: SOON },
    })
    box.setBroken('INBOX')
    box.deliver('p')
    box.deliver('a', { folders: ['More'] })
    await eventually(async () => {
      await service.synced(accountId)
      expect(await service.accounts.get(accountId)).toMatchObject({
        status: 'error',
        statusReason: expect.stringContaining('INBOX'),
      })
    })
    box.deliver('b', { folders: ['More'] })
    await service.wake(accountId)
    await received('a', 'b')
    box.setBroken()
    await eventually(async () => {
      await service.synced(accountId)
      expect(await service.accounts.get(accountId)).toMatchObject({ status: 'connected' })
    })
    await received('a', 'b', 'p')
    const events = await db.read.selectFrom('events').select('type').where('accountId', '=', accountId).execute()
    const types = events.map(({ type }) => type).filter((type) => /sync_stalled|recovered/.test(type))
    expect(types).toEqual(['account.sync_stalled', 'account.recovered'])
  })

  it('is left out by a restarted process while it waits', async () => {
    const { db, box, accountId, service } = await syncedDouble('folders', open, { timing: { itemRetry: SOON } })
    box.setBroken('INBOX')
    await eventually(async () => {
      await service.synced(accountId)
      expect((await rows(db, accountId, 'folder'))[0]?.failures).toBeGreaterThan(2)
    })
    await service.stop()
    await db.transaction((tx) =>
      tx
        .updateTable('unreadableItems')
        .set({ nextAttemptAt: Date.now() + 600_000 })
        .execute(),
    )
    box.calls.length = 0
    const again = syncService(db, { mail: box.mail, timing: QUIET })
    onTestFinished(() => again.stop())
    await again.start()
    await again.synced(accountId)
    expect(box.calls).toContain('follow More')
    expect(box.calls).not.toContain('follow INBOX')
  })

  it('makes the account fail when no folder can be read', async () => {
    const { db, box, accountId, service } = await syncedDouble('folders', open, { timing: { stalledAfter: 2 } })
    box.setBroken(...box.state.folders.map(({ path }) => path))
    await service.wake(accountId)
    await eventually(async () => expect(await service.accounts.get(accountId)).toMatchObject({ status: 'error' }))
    expect(await rows(db, accountId, 'folder')).toEqual([])
  })
})

describeOneDatabase('a process killed between the failures of a message', 'sqlite', (open) => {
  it.each(['whole', 'folders'] as const)('leaves their number to the next one: %s', async (kind) => {
    const place = await open.place()
    const db = await open(place)
    const file = join(place.dataDir, 'provider.json')
    const box = new MailboxDouble(kind, fileStore(file, true))
    box.deliver('old')
    const linking = syncService(db, { mail: box.mail })
    const accountId = await linking.linkMailbox(PROVIDERS[kind])
    await linking.stop()
    const failures = async () => (await rows(db, accountId))[0]?.failures ?? 0
    /** A process that lives until the message has failed once more. */
    const processUntil = async (wanted: number, first: () => void = () => {}) => {
      const child = startWorker('mailbox-sync-worker', [place.dataDir, place.databaseUrl ?? '', kind, file, '30', '0'])
      await once(child.stdout, 'data')
      await eventually(async () => expect((await storedIds(db, accountId)).includes('old')).toBe(true))
      first()
      await eventually(async () => expect(await failures()).toBeGreaterThanOrEqual(wanted))
      child.kill('SIGKILL')
      await once(child, 'exit')
      await db.transaction((tx) => tx.updateTable('unreadableItems').set({ nextAttemptAt: 0 }).execute())
    }
    await processUntil(1, () => {
      box.setUnreadable('p')
      box.deliver('p')
      box.deliver('a')
    })
    expect(await storedIds(db, accountId)).toEqual(['a', 'old'])
    await processUntil(2)
    await processUntil(3)
    expect(await storedIds(db, accountId)).toEqual(['a', 'old', 'p'])

    box.setUnreadable()
    const service = syncService(db, { mail: box.mail, owning: { roundMs: 100, deadAfterMs: 2000 }, timing: QUIET })
    onTestFinished(() => service.stop())
    await service.start()
    const { same, emitted } = watchedMailbox(db, accountId, () => box.state, service.synced)
    await same()
    await eventually(async () => expect(await rows(db, accountId)).toEqual([]))
    expect((await emitted()).filter((event) => event.includes(' p '))).toEqual([
      'message.received p 1',
      'message.updated p 2',
    ])
  })
})

function rows(db: Db, accountId: string, kind: 'message' | 'folder' = 'message') {
  return db.read
    .selectFrom('unreadableItems')
    .selectAll()
    .where('accountId', '=', accountId)
    .where('kind', '=', kind)
    .execute()
}

async function storedIds(db: Db, accountId: string): Promise<string[]> {
  const stored = await db.read
    .selectFrom('messages')
    .select('providerMessageId')
    .where('accountId', '=', accountId)
    .execute()
  return stored.map((row) => row.providerMessageId).sort()
}

function stored(db: Db, accountId: string, id: string) {
  return db.read
    .selectFrom('messages')
    .selectAll()
    .where('accountId', '=', accountId)
    .where('providerMessageId', '=', id)
    .executeTakeFirst()
}
