import { expect, it } from 'vitest'
import { type Databases, databases } from '../../../test/kit/database/database.ts'
import { HeldTransactions } from '../../../test/kit/database/held-transactions.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { mailEvents } from '../../../test/kit/mailbox/mailbox-state.ts'
import { type SyncedDoubleOptions, syncedDouble } from '../../../test/kit/mailbox/synced-double.ts'
import { type IdMailProvider, ProviderError } from '../../providers/contract/index.ts'
import { type BackfillConfig, changeConfig } from './config.ts'
import { measureRate, withSample } from './rate.ts'
import type { BackfillAction } from './service.ts'
import { eraseBackfill } from './store.ts'

const open = databases('sqlite')
const DAY_MS = 24 * 60 * 60 * 1000
const OLD = 40
/** The requests of a backfill, not those of a sync. */
const BACKFILL = /^(count|backfill) /

/** A mailbox with 40 messages of the last 40 days, of which sync has stored the newest ones. The engine does not run yet. */
async function mailbox(
  config: Partial<BackfillConfig> = {},
  kind: 'whole' | 'folders' = 'whole',
  more: Pick<SyncedDoubleOptions, 'mailAs' | 'dbAs'> = {},
) {
  const nowMs = Date.now()
  const options: SyncedDoubleOptions = {
    ...more,
    settings: { initialMessages: 5 },
    before(box) {
      for (let n = 0; n < OLD; n += 1) {
        box.deliver(`old-${n}`, { receivedAt: nowMs - (OLD - n) * DAY_MS, folders: [n % 2 === 0 ? 'INBOX' : 'Work'] })
      }
    },
  }
  const synced = await syncedDouble(kind, open as Databases, options)
  const { db, service, accountId } = synced
  const { backfill } = service
  await db.transaction((tx) =>
    changeConfig(tx, { timeRangeDays: 365, batchSize: 5, delayBetweenBatches: 0, ...config }),
  )
  const view = () => backfill.service.find(db.read, accountId)
  return {
    ...synced,
    backfill,
    view,
    act: async (action: BackfillAction) => db.transaction(await backfill.service.prepare(action, accountId)),
    status: (expected: object) => eventually(async () => expect(await view()).toMatchObject(expected)),
    stored: async () => Object.keys(await synced.ids()).length,
    types: async () =>
      (await mailEvents(db, accountId)).map(({ type }) => type).filter((type) => type.startsWith('sync.')),
  }
}

it('starts once, pauses, resumes, cancels and restarts', async () => {
  const { act, view, backfill, status, stored, types } = await mailbox({ enabled: false })
  expect(await view()).toMatchObject({ status: 'idle', processed: 0, startedAt: null, updatedAt: null })
  for (const action of ['pause', 'resume', 'cancel'] as const) {
    await expect(act(action)).rejects.toMatchObject({ code: 'conflict' })
  }
  const begun = await act('start')
  expect(await act('start')).toEqual(begun)
  expect(await act('resume')).toEqual(begun)
  const paused = await act('pause')
  expect(paused).toMatchObject({ status: 'paused', startedAt: begun.startedAt })
  expect(await act('pause')).toEqual(paused)
  expect(await act('start')).toMatchObject({ status: 'running', startedAt: begun.startedAt })
  expect(await act('cancel')).toMatchObject({ status: 'cancelled' })
  expect(await act('cancel')).toMatchObject({ status: 'cancelled' })
  await expect(act('resume')).rejects.toMatchObject({ code: 'conflict' })
  expect(await act('restart')).toMatchObject({ status: 'running', processed: 0 })
  expect(await types()).toEqual(['sync.backfill_started', 'sync.backfill_started'])

  await backfill.start()
  const before = await stored()
  expect(await view()).toMatchObject({ status: 'running', processed: 0 })
  expect(await stored()).toBe(before)
  await act('cancel')
  await status({ status: 'cancelled' })
})

it('continues a paused backfill where it stopped', async () => {
  const { act, view, backfill, status, stored } = await mailbox({ delayBetweenBatches: 60_000 })
  await act('start')
  await backfill.start()
  // The first batch is stored; the next is a minute away.
  await status({ processed: 5, total: expect.any(Number) })
  const { total } = await view()
  const afterBatch = await stored()
  await act('pause')
  expect(await view()).toMatchObject({ status: 'paused', processed: 5, secondsLeft: null })
  expect(await stored()).toBe(afterBatch)
  // Resuming does not wait for the next batch.
  await act('resume')
  await status({ processed: 10, total })
})

it('waits while its account is paused, and continues with it', async () => {
  const { act, backfill, status, db, service, accountId } = await mailbox({ delayBetweenBatches: 2000 })
  await act('start')
  await backfill.start()
  await status({ processed: 5 })
  await db.transaction((tx) => service.accounts.change(tx, accountId, { paused: true }))
  await status({ status: 'paused' })
  await expect(act('resume')).rejects.toMatchObject({ code: 'conflict' })
  await db.transaction((tx) => service.accounts.change(tx, accountId, { paused: false }))
  await db.transaction((tx) => changeConfig(tx, { delayBetweenBatches: 0 }))
  await status({ status: 'completed' })
})

it('waits after a refused login that sync has not confirmed', async () => {
  const { act, backfill, status, box, types } = await mailbox()
  await act('start')
  box.matchingFailures.push({ on: BACKFILL, error: new ProviderError('auth_expired', 'no longer valid') })
  await backfill.start()
  await status({ status: 'running', lastError: 'The provider refused a login.' })
  expect(await types()).toEqual(['sync.backfill_started'])
})

it('fails when the credentials are refused, and can be resumed', async () => {
  const { act, backfill, status, box, types, same, db } = await mailbox()
  await act('start')
  // After many attempts it no longer waits for sync.
  await db.transaction((tx) => tx.updateTable('backfills').set({ attempts: 10 }).execute())
  box.matchingFailures.push({ on: BACKFILL, error: new ProviderError('auth_expired', 'no longer valid') })
  await backfill.start()
  await status({ status: 'failed', lastError: expect.stringContaining('refused the credentials') })
  expect(await types()).toEqual(['sync.backfill_started', 'sync.backfill_failed'])
  await act('resume')
  await status({ status: 'completed', lastError: null })
  await same()
})

it('waits as long as the provider asks, and repeats temporary failures', async () => {
  const { act, backfill, status, box, same } = await mailbox()
  await act('start')
  box.matchingFailures.push({
    on: BACKFILL,
    error: new ProviderError('rate_limited', 'too many', { retryAfterMs: 50 }),
  })
  box.matchingFailures.push({ on: BACKFILL, error: new ProviderError('unavailable', 'out of order') })
  await backfill.start()
  await status({ status: 'completed', lastError: null })
  await same()
})

it('leaves out a folder that the provider refuses, and names it', async () => {
  const { act, backfill, status, box } = await mailbox({}, 'folders')
  await act('start')
  box.matchingFailures.push({ on: BACKFILL, error: new ProviderError('rejected', 'this folder is locked') })
  await backfill.start()
  await status({ status: 'completed', lastError: expect.stringContaining('this folder is locked') })
})

it('leaves nothing of a deleted account', async () => {
  const { act, backfill, status, db, accountId } = await mailbox({ delayBetweenBatches: 60_000 })
  await act('start')
  await backfill.start()
  await status({ processed: 5 })
  expect(await db.transaction((tx) => eraseBackfill(tx, accountId))).toBe(2)
  expect(await db.read.selectFrom('backfillFolders').select('scopeId').execute()).toEqual([])
  expect(await db.read.selectFrom('backfills').select('accountId').execute()).toEqual([])
})

it('estimates the rate from about the last minute of work', () => {
  let samples = withSample([], [0, 0])
  for (let second = 1; second <= 120; second += 1) samples = withSample(samples, [second * 1000, second * 10])
  expect(samples.length).toBeLessThan(20)
  expect(measureRate(samples)).toBeCloseTo(600, 5)
  expect(measureRate(withSample(samples, [10 * 60_000, 1300]))).toBeNull()
})

it('reads a batch again when sync has stored a part of a step, in which it ignored a change of a message of the batch', async () => {
  const parts = new HeldTransactions()
  let release: (() => void) | undefined
  let isHeld = true
  /** Holds what the first batch has read. */
  const mailAs = (mail: IdMailProvider): IdMailProvider => ({
    ...mail,
    backfill: (access) => {
      const backfill = mail.backfill(access)
      return {
        ...backfill,
        async read(request) {
          const page = await backfill.read(request)
          if (isHeld) await new Promise<void>((resolve) => (release = resolve))
          isHeld = false
          return page
        },
      }
    },
  })
  const { box, service, accountId, backfill, act, status, same } = await mailbox({}, 'whole', {
    mailAs,
    dbAs: (db) => parts.of(db),
  })
  box.pageSize = 1000
  await act('start')
  await backfill.start()
  await eventually(() => expect(release).toBeDefined())
  for (let n = 0; n < OLD; n += 1) box.set(`old-${n}`, { unread: false })
  for (let n = 0; n < 300; n += 1) box.deliver(`new-${n}`)
  parts.holdSecond()
  await service.wake(accountId)
  await eventually(() => expect(parts.isHeld).toBe(true))
  release?.()
  await status({ status: 'completed' })
  parts.release()
  await same()
})
