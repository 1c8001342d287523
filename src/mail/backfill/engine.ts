import type { Account } from '../../accounts/index.ts'
import { sleep } from '../../platform/concurrency/abort.ts'
import type { Tx } from '../../platform/db/index.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { Log } from '../../platform/log/index.ts'
import type { Queue, Worker } from '../../platform/queue/index.ts'
import { labelStore } from '../labels/index.ts'
import { type BatchDeps, countFolder, moveHorizon, type Read, readFolder } from './batch.ts'
import { type BackfillConfig, readConfig } from './config.ts'
import { verdictOf } from './failures.ts'
import { openScopes, type Scope, type Scopes } from './folders.ts'
import { type RateSample, withSample } from './rate.ts'
import { type BackfillService, QUEUE } from './service.ts'
import { type BackfillFolderRow, type BackfillRow, backfillFolderStore, backfillStore } from './store.ts'

export interface BackfillEngineDeps extends BatchDeps {
  queue: Queue
  log: Log
  service: BackfillService
  /** How often lost jobs are replaced. */
  sweepMs?: number
}

const SWEEP_MS = 5000
/** The most accounts that the settings allow at once. */
const CONCURRENCY = 10
/** A run ends after this time, so that a stop and other accounts need not wait. */
const SLICE_MS = 10_000
/** Longer pauses are left to the queue. */
const SHORT_MS = 2000
/** For a first sync that is not complete, and after sync has read the folder again. */
const WAIT_MS = 5000
/** A folder that sync cannot read is left out after this time. */
const PATIENCE_MS = 10 * 60_000
/** A progress event follows when so much time has passed and so much of the total was processed, or after the longer time. */
const ANNOUNCE = { minMs: 10_000, share: 0.05, maxMs: 60_000 }

type Outcome = 'continue' | 'end'

/**
 * Runs the backfills. Any instance may run any account: the row is the truth, and every step stores its result only if the row has not
 * changed since.
 *
 *   job of an account ──► its turn? ──► count the folders ──► read ──► one transaction ──► pause ──► read …
 *                                                              └──► failure: wait, leave the folder out, or fail
 */
export function backfillEngine(deps: BackfillEngineDeps) {
  const { db, queue, clock, log, accounts, service, positions, sweepMs = SWEEP_MS } = deps
  let worker: Worker | undefined
  let sweeper: NodeJS.Timeout | undefined

  async function run(accountId: string, signal: AbortSignal): Promise<undefined | { nextRunInMs: number }> {
    const endMs = clock.monotonic() + SLICE_MS
    for (let messages = 0; !signal.aborted; ) {
      const row = await backfillStore(db.read).find(accountId)
      const config = await readConfig(db.read)
      if (row?.status !== 'running' || !config.enabled) return undefined
      // The end of another one announces the next.
      if ((await backfillStore(db.read).ahead(row, clock.now())) >= config.maxConcurrentAccounts) return undefined
      const waitMs = row.nextBatchAt - clock.now()
      if (waitMs > SHORT_MS || clock.monotonic() > endMs) return { nextRunInMs: Math.max(0, waitMs) }
      if (waitMs > 0) {
        await sleep(waitMs, signal)
        continue
      }
      const account = await findAccount(accountId)
      if (account === undefined) return undefined
      const limit = config.batchSize - messages
      const done = await step(account, row, { config, limit, signal })
      if (done === 'end') {
        await announceDue()
        return undefined
      }
      messages = done >= limit ? 0 : messages + done
    }
    return { nextRunInMs: 0 }
  }

  interface Step {
    config: BackfillConfig
    /** Messages left in this batch. */
    limit: number
    signal: AbortSignal
  }

  /** Returns how many messages were read. */
  async function step(account: Account, row: BackfillRow, { config, limit, signal }: Step): Promise<number | 'end'> {
    if (account.paused) return end(row, (tx) => service.stop(tx, row, { status: 'paused', pausedBy: 'account' }))
    const scopes = await openScopes(db, positions, account)
    const uncounted = scopes.ready.find((scope) => scope.row?.isCounted !== 1)
    const scope = uncounted ?? scopes.ready[0]
    if (scope === undefined) return (await finish(account, row, scopes)) === 'end' ? 'end' : 0
    try {
      if (uncounted !== undefined) {
        await count(account, row, scopes, uncounted, signal)
        return 0
      }
      return await readAndStore(account, row, scope, { config, limit, signal })
    } catch (error) {
      if (signal.aborted) return 0
      return (await failed(account, row, scope, error)) === 'end' ? 'end' : 0
    }
  }

  async function count(account: Account, row: BackfillRow, scopes: Scopes, scope: Scope, signal: AbortSignal) {
    const total = await countFolder(deps, account, row, scope, signal)
    await db.transaction(async (tx) => {
      await accounts.hold(tx, account.id)
      await backfillFolderStore(tx).save(account.id, scope.scopeId, { total, isCounted: 1 }, clock.now())
      const others = scopes.ready.filter(
        ({ scopeId, row: other }) => scopeId !== scope.scopeId && other?.isCounted !== 1,
      )
      const all = [...(await backfillFolderStore(tx).all(account.id)).values()].map((folder) => folder.total)
      const isKnown = others.length + scopes.waiting.length === 0 && all.every((one) => one !== null)
      const sum = all.reduce<number>((so, one) => so + (one ?? 0), 0)
      await update(tx, row, { total: isKnown ? sum : row.total })
    })
  }

  async function readAndStore(account: Account, row: BackfillRow, scope: Scope, { config, limit, signal }: Step) {
    const read = await readFolder(deps, account, row, scope, limit, signal)
    let processed = 0
    await db.transaction(
      async (tx) => {
        await accounts.hold(tx, account.id)
        processed = (await read.store(tx)) + read.passed
        const nowMs = clock.now()
        await backfillFolderStore(tx).save(account.id, scope.scopeId, read.folder, nowMs)
        await moveHorizon(tx, account.id, scope, read.reachedMs)
        const delayMs = processed >= limit ? config.delayBetweenBatches : 0
        const changes = progress(row, processed, read, nowMs)
        const after = { ...row, ...changes, nextBatchAt: nowMs + delayMs, attempts: 0, losses: 0, lastError: null }
        const isDue = isAnnounced(row, after, nowMs)
        if (isDue) Object.assign(after, { announcedAt: nowMs, announcedProcessed: after.processed })
        const { accountId: _, version: __, ...columns } = after
        await update(tx, row, columns)
        if (isDue)
          await service.announce(tx, 'sync.backfill_progress', account.provider, { ...after, version: row.version + 1 })
      },
      { bulk: true },
    )
    return processed
  }

  /** Every folder is complete, or waits for sync. */
  async function finish(account: Account, row: BackfillRow, { waiting }: Scopes): Promise<Outcome> {
    const nowMs = clock.now()
    const patient = waiting.filter(({ row: folder }) => folder === undefined || nowMs - folder.createdAt < PATIENCE_MS)
    if (patient.length > 0) {
      await write(row, async (tx) => {
        const folders = backfillFolderStore(tx)
        for (const { scopeId, row: folder } of patient) if (!folder) await folders.save(account.id, scopeId, {}, nowMs)
        await update(tx, row, { nextBatchAt: nowMs + WAIT_MS })
      })
      return 'continue'
    }
    return end(row, async (tx) => {
      const folders = backfillFolderStore(tx)
      for (const { scopeId } of waiting) {
        await folders.save(account.id, scopeId, { isDone: 1, error: 'sync has not read it' }, nowMs)
      }
      const all = [...(await folders.all(account.id)).values()]
      const refused = all.filter(({ error }) => error !== null)
      const lastError = refused.length === 0 ? null : await naming(tx, refused)
      const isFailed = refused.length > 0 && refused.length === all.length
      const status = isFailed ? 'failed' : 'completed'
      const type = isFailed ? 'sync.backfill_failed' : 'sync.backfill_completed'
      const samples = sampled(row, row.processed, nowMs)
      const total = isFailed ? row.total : row.processed
      const after = await service.change(tx, row, { status, total, samples, lastError, attempts: 0 })
      await service.announce(tx, type, account.provider, after)
      tx.afterCommit(() =>
        log.info(`The historical sync of an account has ${status}.`, {
          accountId: account.id,
          provider: account.provider,
          operation: 'backfill.run',
          durationMs: nowMs - row.startedAt,
          metadata: { processed: row.processed, refusedFolders: refused.length },
        }),
      )
    })
  }

  async function failed(account: Account, row: BackfillRow, scope: Scope, error: unknown): Promise<Outcome> {
    if (error instanceof Outdated) return 'continue'
    const nowMs = clock.now()
    const about = { accountId: account.id, provider: account.provider, operation: 'backfill.read', error }
    const verdict = verdictOf(error, row, account)
    switch (verdict.kind) {
      case 'deleted':
        return 'end'
      case 'failed':
        return end(row, async (tx) => {
          const after = await service.stop(tx, row, { status: 'failed', lastError: verdict.reason })
          await service.announce(tx, 'sync.backfill_failed', account.provider, after)
          tx.afterCommit(() =>
            log.warn('The historical sync of an account has failed.', {
              ...about,
              metadata: { reason: verdict.reason },
            }),
          )
        })
      case 'folder refused':
        log.warn('Cannot read a folder for the historical sync. The other folders are read.', {
          ...about,
          metadata: { scopeId: scope.scopeId },
        })
        await write(row, async (tx) => {
          await saveFolder(tx, account.id, scope, { isDone: 1, isCounted: 1, error: verdict.reason })
          await update(tx, row, {})
        })
        return 'continue'
      case 'later': {
        const { entry, delayMs, changes, restartsFolder } = verdict
        if (entry !== undefined) log[entry.level](entry.message, { ...about, metadata: { delayMs } })
        await write(row, async (tx) => {
          if (restartsFolder) await saveFolder(tx, account.id, scope, { checkpoint: null, lowUid: null })
          await update(tx, row, { ...changes, nextBatchAt: nowMs + delayMs })
        })
        return 'continue'
      }
    }
  }

  function saveFolder(tx: Tx, accountId: string, { scopeId }: Scope, changes: Partial<BackfillFolderRow>) {
    return backfillFolderStore(tx).save(accountId, scopeId, changes, clock.now())
  }

  /** Throws `Outdated` when the row has changed since it was read: the transaction is rolled back. */
  async function update(tx: Tx, row: BackfillRow, changes: Partial<BackfillRow>): Promise<void> {
    if (!(await backfillStore(tx).update(row, { ...changes, updatedAt: clock.now() }))) throw new Outdated()
  }

  /** Does nothing when the row has changed meanwhile, or the account was deleted. */
  async function write(row: BackfillRow, body: (tx: Tx) => Promise<unknown>): Promise<void> {
    await db
      .transaction(async (tx) => {
        await accounts.hold(tx, row.accountId)
        const now = await backfillStore(tx).find(row.accountId)
        if (now?.version !== row.version) throw new Outdated()
        await body(tx)
      })
      .catch((error: unknown) => {
        const isDeleted = error instanceof AppError && error.code === 'not_found'
        if (!isDeleted && !(error instanceof Outdated)) throw error
      })
  }

  async function end(row: BackfillRow, body: (tx: Tx) => Promise<unknown>): Promise<'end'> {
    await write(row, body)
    return 'end'
  }

  async function findAccount(accountId: string): Promise<Account | undefined> {
    try {
      return await accounts.get(accountId)
    } catch (error) {
      if (error instanceof AppError && error.code === 'not_found') return undefined
      throw error
    }
  }

  /** Adds the jobs of the accounts whose turn it is, and continues backfills whose account was resumed. */
  async function announceDue(): Promise<void> {
    for (const row of await backfillStore(db.read).resumable(CONCURRENCY)) {
      await write(row, (tx) => service.proceed(tx, row))
    }
    const { enabled, maxConcurrentAccounts } = await readConfig(db.read)
    if (!enabled) return
    for (const accountId of await backfillStore(db.read).first(clock.now(), maxConcurrentAccounts)) {
      await queue.add(QUEUE, accountId)
    }
  }

  return {
    async start(): Promise<void> {
      worker = queue.work(QUEUE, { concurrency: CONCURRENCY }, (accountId, { signal }) => run(accountId, signal))
      await announceDue()
      sweeper = setInterval(() => {
        announceDue().catch((error: unknown) =>
          log.warn('Cannot search for historical syncs to continue. The next attempt follows shortly.', {
            operation: 'backfill.sweep',
            error,
          }),
        )
      }, sweepMs)
    },

    async stop(graceMs: number): Promise<void> {
      clearInterval(sweeper)
      await worker?.stop(graceMs)
      worker = undefined
    },
  }
}

/** The row was changed meanwhile: paused, cancelled, or continued by another instance. */
class Outdated extends Error {
  override name = 'Outdated'
}

function progress(row: BackfillRow, processed: number, { oldest }: Read, nowMs: number) {
  const sum = row.processed + processed
  const oldestReached = oldest === null ? row.oldestReached : Math.min(oldest, row.oldestReached ?? oldest)
  return {
    processed: sum,
    // Counts are estimates: messages may have been deleted or moved since.
    total: row.total === null ? null : Math.max(row.total, sum),
    oldestReached,
    samples: sampled(row, sum, nowMs),
  }
}

function sampled({ samples }: BackfillRow, processed: number, nowMs: number): string {
  const before: RateSample[] = JSON.parse(samples)
  return JSON.stringify(withSample(before, [nowMs, processed]))
}

function isAnnounced({ announcedAt, announcedProcessed }: BackfillRow, after: BackfillRow, nowMs: number): boolean {
  const sinceMs = nowMs - announcedAt
  const processed = after.processed - announcedProcessed
  const isMuch = processed >= ANNOUNCE.share * (after.total ?? Number.POSITIVE_INFINITY)
  return processed > 0 && (sinceMs >= ANNOUNCE.maxMs || (sinceMs >= ANNOUNCE.minMs && isMuch))
}

const NAMED = 5

async function naming(tx: Tx, refused: readonly BackfillFolderRow[]): Promise<string> {
  const labels = await labelStore(tx).byIds(refused.map(({ scopeId }) => scopeId))
  const names = refused.slice(0, NAMED).map(({ scopeId, error }) => {
    const name = labels.get(scopeId)?.name ?? 'the mailbox'
    return `${name} (${error})`
  })
  const more = refused.length > NAMED ? ` and ${refused.length - NAMED} more` : ''
  return `Folders that could not be read: ${names.join(', ')}${more}.`
}
