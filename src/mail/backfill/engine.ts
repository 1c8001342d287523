import type { Account } from '../../accounts/index.ts'
import { sleep } from '../../platform/concurrency/abort.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { Queue, Worker } from '../../platform/queue/index.ts'
import { readConfig } from './config.ts'
import { QUEUE } from './service.ts'
import { runStep, type StepDeps, writeUnchanged } from './step.ts'
import { backfillStore } from './store.ts'

export interface BackfillEngineDeps extends StepDeps {
  queue: Queue
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

/**
 * Runs the backfills. Any instance may run any account: the row is the truth, and every step stores its result only if the row has not
 * changed since.
 *
 *   job of an account ──► its turn? ──► count the folders ──► read ──► one transaction ──► pause ──► read …
 *                                                              └──► failure: wait, leave the folder out, or fail
 */
export function backfillEngine(deps: BackfillEngineDeps) {
  const { db, queue, clock, log, accounts, service, sweepMs = SWEEP_MS } = deps
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
      const done = await runStep(deps, account, row, { config, limit, signal })
      if (done === 'end') {
        await announceDue()
        return undefined
      }
      messages = done >= limit ? 0 : messages + done
    }
    return { nextRunInMs: 0 }
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
      await writeUnchanged(deps, row, (tx) => service.proceed(tx, row))
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
