import type { Accounts } from '../../../accounts/index.ts'
import { sleep } from '../../../platform/concurrency/abort.ts'
import type { Db } from '../../../platform/db/index.ts'
import { AppError } from '../../../platform/errors/app-error.ts'
import type { Log } from '../../../platform/log/index.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import { messageWriter } from '../rows/writer.ts'
import { currentThreads, findPendingMerge, updateMerge } from './merges.ts'

interface ThreadMergerDeps {
  db: Db
  accounts: Pick<Accounts, 'hold'>
  clock: Clock
  log: Log
  /** How often merges are searched for. */
  sweepMs?: number
}

const SWEEP_MS = 5000
const MESSAGES_PER_TRANSACTION = 100
const PAUSE_MS = 5

/**
 * Moves the messages of large threads that were merged into others: the transaction that found the merge moves only some. Runs on every
 * instance; the row of the merge says what is left, and the account's row lets one instance work at a time.
 */
export function threadMerger({ db, accounts, clock, log, sweepMs = SWEEP_MS }: ThreadMergerDeps) {
  const stopping = new AbortController()
  let running: Promise<void> | undefined

  async function complete(): Promise<void> {
    while (!stopping.signal.aborted) {
      const pending = await findPendingMerge(db.read)
      if (pending === undefined) return
      await moveSome(pending)
      await sleep(PAUSE_MS, stopping.signal)
    }
  }

  async function moveSome({ threadId, accountId }: { threadId: string; accountId: string }): Promise<void> {
    await db.transaction(async (tx) => {
      const isPresent = await accounts.hold(tx, accountId).then(() => true, ifDeleted)
      const intoThreadId = (await currentThreads(tx, [threadId]))(threadId)
      const merge = { threadId, intoThreadId }
      const writer = messageWriter(tx, { dialect: db.dialect, accountId, nowMs: clock.now() })
      const moved = isPresent ? await writer.moveThread(merge, MESSAGES_PER_TRANSACTION) : 0
      await updateMerge(tx, merge, moved === MESSAGES_PER_TRANSACTION)
    })
  }

  function run(): Promise<void> {
    running ??= complete()
      .catch((error: unknown) =>
        log.warn('Cannot join the messages of two threads. The next attempt follows shortly.', {
          operation: 'threads.merge',
          error,
        }),
      )
      .finally(() => {
        running = undefined
      })
    return running
  }

  let sweeper: NodeJS.Timeout | undefined
  return {
    /** Resolves when no merge is pending, or after a failure. */
    run,

    start(): void {
      sweeper = setInterval(() => void run(), sweepMs)
    },

    async stop(): Promise<void> {
      stopping.abort()
      clearInterval(sweeper)
      await running
    },
  }
}

function ifDeleted(error: unknown): false {
  if (error instanceof AppError && error.code === 'not_found') return false
  throw error
}
