import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Db, Tx } from '../../infra/db/index.ts'
import type { Log } from '../../infra/log/index.ts'
import type { Queue, Worker } from '../../infra/queue/index.ts'
import { accountStore } from './store.ts'

/** Deletes up to `limit` rows of a deleted account and answers how many went; 0 is the end. Each room gives one for its tables. */
export type Erase = (tx: Tx, accountId: string, limit: number) => Promise<number>

export interface ErasureDeps {
  db: Db
  queue: Queue
  log: Log
  /** Run in this order, and then all once more. `account.deleted` events and their deliveries must be spared. */
  erase: readonly Erase[]
  /** Lets go of what is not in the database: open connections, jobs, caches. Called before and after the rows go; may repeat. */
  forget(accountId: string): Promise<void>
  /** Gives back what the account held at its provider; best effort, at most some seconds. May repeat. */
  revoke?(accountId: string): Promise<void>
  /** How often erasures are looked for that no job announces any more. */
  sweepMs?: number
}

export interface Erasure {
  /** Goes on with whatever an earlier process left, and takes what comes. */
  start(): Promise<void>
  stop(): Promise<void>
}

const LANE = 'erase'
/** On the file store one part keeps the event loop for as long as it takes: with 200 messages a few milliseconds. */
const ROWS_PER_TRANSACTION = 200
const SWEEP_MS = 60_000
const GRACE_MS = 5_000

/** Has the data of an account erased by any process, taking effect with the commit. */
export function requestErasure(queue: Queue): (tx: Tx, accountId: string) => Promise<void> {
  return (tx, accountId) => queue.addIn(tx, LANE, [accountId])
}

/**
 * Erases the data of deleted accounts in small transactions, so that a mailbox of a million messages blocks nobody. The row in
 * `accountErasures` is the truth: it goes last, and until then any process may begin again where another was killed.
 */
export function erasure(deps: ErasureDeps): Erasure {
  const { db, queue, log } = deps
  let worker: Worker | undefined
  let sweeper: NodeJS.Timeout | undefined
  let stopping = false

  async function announce(): Promise<void> {
    for (const accountId of await accountStore(db.read, db.dialect).pendingErasures()) await queue.add(LANE, accountId)
  }

  /** Answers false when told to stop before the end. */
  async function erase(accountId: string, signal: AbortSignal): Promise<boolean> {
    // Announced twice, or finished by another process whose job was thought lost.
    if (!(await accountStore(db.read, db.dialect).isErasurePending(accountId))) return true
    await deps.forget(accountId)
    const revoking = deps.revoke?.(accountId)
    try {
      if (!(await eraseRows(accountId, signal))) return false
    } finally {
      await revoking
    }
    await deps.forget(accountId)
    await db.transaction((tx) => accountStore(tx, db.dialect).forgetErasure(accountId))
    log.info('The data of a deleted account is erased', { accountId, operation: 'accounts.erase' })
    return true
  }

  async function eraseRows(accountId: string, signal: AbortSignal): Promise<boolean> {
    // Twice: while one room's rows went, a transaction that began before may have added to another's that was done.
    for (const step of [...deps.erase, ...deps.erase]) {
      for (let rows = -1; rows !== 0; ) {
        if (signal.aborted || stopping) return false
        rows = await db.transaction((tx) => step(tx, accountId, ROWS_PER_TRANSACTION))
        // The file store answers without ever leaving this turn of the event loop; requests must get theirs.
        await nextTurn()
      }
    }
    return true
  }

  return {
    async start() {
      worker = queue.work(LANE, { concurrency: 1 }, async (accountId, { signal }) =>
        (await erase(accountId, signal)) ? undefined : { nextRunInMs: 0 },
      )
      sweeper = setInterval(() => {
        announce().catch((error: unknown) =>
          log.warn('Pending erasures could not be announced', { operation: 'accounts.erase', error }),
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
