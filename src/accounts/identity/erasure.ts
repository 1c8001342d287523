import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Erase } from '../../feature.ts'
import type { Db, Tx } from '../../platform/db/index.ts'
import type { Log } from '../../platform/log/index.ts'
import type { Queue, Worker } from '../../platform/queue/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { accountStore } from './store.ts'

interface ErasureDeps {
  db: Db
  queue: Queue
  clock: Clock
  log: Log
  /**
   * Run in this order, twice. Each deletes from the tables of one feature: `erase` of its `feature.ts`, all of them collected in
   * `app/feature-list.ts`.
   */
  erase: readonly Erase[]
  /** Releases what is outside the database: connections, subscriptions, caches. Called before and after the deletion; may repeat. */
  forget(accountId: string): Promise<void>
  /** Revokes the account's tokens at its provider: best effort, some seconds at most. May repeat. */
  revoke?(accountId: string): Promise<void>
  /** How often pending erasures are queued again. */
  sweepMs?: number
}

export interface Erasure {
  /** Continues pending erasures and starts the worker. */
  start(): Promise<void>
  stop(): Promise<void>
}

const ERASE_QUEUE = 'erase'
/** Bounds how long one transaction of the file store holds the event loop: some milliseconds for 200 messages. */
const ROWS_PER_TRANSACTION = 200
const SWEEP_MS = 60_000
const GRACE_MS = 5_000

/** Queues the erasure of an account when the transaction commits. */
export function requestErasure(queue: Queue): (tx: Tx, accountId: string) => Promise<void> {
  return (tx, accountId) => queue.addIn(tx, ERASE_QUEUE, [accountId])
}

/**
 * Erases the data of deleted accounts in small transactions. The row in `accountErasures` is deleted last; until then any
 * process can continue after another one was killed.
 */
export function erasure(deps: ErasureDeps): Erasure {
  const { db, queue, log } = deps
  let worker: Worker | undefined
  let sweeper: NodeJS.Timeout | undefined
  let stopping = false

  async function announce(): Promise<void> {
    for (const accountId of await accountStore(db.read, db.dialect).pendingErasures())
      await queue.add(ERASE_QUEUE, accountId)
  }

  /** Returns false when stopped before the end. */
  async function erase(accountId: string, signal: AbortSignal): Promise<boolean> {
    // The job was queued twice, or another process has finished it.
    if (!(await accountStore(db.read, db.dialect).isErasurePending(accountId))) return true
    const startedMs = deps.clock.monotonic()
    let erased = 0
    await deps.forget(accountId)
    const revoking = deps.revoke?.(accountId)
    try {
      const isComplete = await eraseRows(accountId, signal, (rows) => {
        erased += rows
      })
      if (!isComplete) return false
    } finally {
      await revoking
    }
    await deps.forget(accountId)
    await db.transaction((tx) => accountStore(tx, db.dialect).forgetErasure(accountId))
    log.info(`Erased the data of a deleted account: ${erased} rows.`, {
      accountId,
      operation: 'accounts.erase',
      durationMs: deps.clock.monotonic() - startedMs,
      metadata: { rows: erased },
    })
    return true
  }

  async function eraseRows(accountId: string, signal: AbortSignal, onErased: (rows: number) => void): Promise<boolean> {
    // Twice: a transaction that began before the deletion may add rows to a table that is already empty.
    for (const step of [...deps.erase, ...deps.erase]) {
      for (let rows = -1; rows !== 0; ) {
        if (signal.aborted || stopping) return false
        rows = await db.transaction((tx) => step(tx, accountId, ROWS_PER_TRANSACTION))
        onErased(rows)
        // The file store completes within one turn of the event loop; other work must get its turns.
        await nextTurn()
      }
    }
    return true
  }

  return {
    async start() {
      worker = queue.work(ERASE_QUEUE, { concurrency: 1 }, async (accountId, { signal }) =>
        (await erase(accountId, signal)) ? undefined : { nextRunInMs: 0 },
      )
      sweeper = setInterval(() => {
        announce().catch((error: unknown) =>
          log.warn('Cannot queue pending erasures; trying again at the next sweep.', {
            operation: 'accounts.erase',
            error,
          }),
        )
      }, deps.sweepMs ?? SWEEP_MS)
      await announce()
    },

    async stop() {
      stopping = true
      clearInterval(sweeper)
      await worker?.stop(GRACE_MS)
      worker = undefined
    },
  }
}
