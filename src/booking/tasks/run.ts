import { backoffMs } from '../../platform/concurrency/retry.ts'
import {
  DatabaseUnavailable,
  type Db,
  keepRenewing,
  LeaseLost,
  leasedRows,
  type RowLease,
  type Tx,
} from '../../platform/db/index.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { cleanText, truncateText } from '../../platform/formats/text.ts'
import { secretToken } from '../../platform/ids.ts'
import type { Log } from '../../platform/log/index.ts'
import type { Run } from '../../platform/queue/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { ProviderError } from '../../providers/contract/index.ts'
import { bookingStore } from '../bookings/store.ts'
import type { BookingRow, TaskRow, TaskType } from '../tables.ts'
import type { TaskTiming } from './engine.ts'
import { claimNext, finishTask, SOON_MS, TASKS } from './store.ts'

/**
 * Does one task, and returns what remains to be stored, in the transaction that ends it. Network requests come before: they may be
 * repeated, because the process may die before the transaction. Throws what failed; `Refused` when repeating it is of no use.
 */
export type Work = (booking: BookingRow, task: TaskRow, signal: AbortSignal) => Promise<Commit | undefined>
export type Commit = (tx: Tx) => Promise<void>

/** Handles a task that is given up, in the transaction that ends it. */
type GiveUp = (booking: BookingRow, task: TaskRow, reason: string) => Commit

export interface TaskKind {
  work: Work
  onFailure?(booking: BookingRow, task: TaskRow, reason: string): Commit | undefined
  onGiveUp?: GiveUp
}

/** Repeating the task cannot help. The message is for people. */
export class Refused extends Error {
  override name = 'Refused'
}

export interface TaskRunDeps {
  db: Db
  clock: Clock
  log: Log
  kinds: Readonly<Record<TaskType, TaskKind>>
  timing: TaskTiming
}

/** After this long the booking goes to the back of the queue. */
const MAX_RUN_MS = 60_000
const MAX_ERROR = 500

/**
 * The run of the queue `book`, whose job keys are bookings: does their due tasks one after the other.
 *
 *     waiting ─▶ active ─▶ completed
 *        ▲          ├────▶ waiting, later: it failed
 *        │          └────▶ failed: refused for good, or repeated for a day
 *     retry                cancelled: the booking has changed, or a request
 */
export function taskRun(deps: TaskRunDeps, stopping: AbortSignal): Run {
  const { db, clock, log, timing } = deps
  return async (bookingId, { signal }) => {
    const lease: RowLease = { token: secretToken(), forMs: timing.leaseMs }
    const stopRenewing = keepRenewing({
      log,
      operation: 'scheduler.renew',
      lease,
      renew: () => db.statement((handle) => leasedRows(handle, db.dialect, TASKS).renew({ key: bookingId }, lease)),
    })
    const endsAt = clock.monotonic() + MAX_RUN_MS
    try {
      while (!stopping.aborted && !signal.aborted) {
        if (clock.monotonic() > endsAt) return { nextRunInMs: 0 }
        const task = await db.transaction((tx) => claimNext(tx, db.dialect, { bookingId, nowMs: clock.now() }, lease))
        if (task === undefined) break
        await runOne(deps, task, signal)
      }
    } finally {
      stopRenewing()
    }
    const dueAt = await leasedRows(db.read, db.dialect, TASKS).nextDueAt(bookingId)
    const inMs = dueAt === undefined ? undefined : Math.max(0, dueAt - clock.now())
    return inMs === undefined || inMs > SOON_MS ? undefined : { nextRunInMs: inMs }
  }
}

async function runOne(deps: TaskRunDeps, task: TaskRow, signal: AbortSignal): Promise<void> {
  const { db, clock, kinds } = deps
  const booking = await bookingStore(db.read).find(task.bookingId)
  const kind = kinds[task.type]
  const end = async (commit: Commit | undefined, status: 'completed' | 'cancelled') => {
    const ended = { status, dueAt: null, lastError: null, updatedAt: clock.now() }
    await db.transaction(async (tx) => {
      await commit?.(tx)
      await finishTask(tx, task, ended)
    })
  }
  try {
    if (booking === undefined) return await end(undefined, 'cancelled')
    const commit = await kind.work(booking, task, signal)
    await end(commit, commit === undefined ? 'cancelled' : 'completed')
  } catch (error) {
    // Another run has the task, or nobody needs it.
    if (error instanceof LeaseLost) return
    if (error instanceof DatabaseUnavailable || signal.aborted || booking === undefined) throw error
    await recordFailure(deps, { task, booking, kind, error })
  }
}

async function recordFailure(
  { db, clock, log, timing }: TaskRunDeps,
  { task, booking, kind, error }: { task: TaskRow; booking: BookingRow; kind: TaskKind; error: unknown },
): Promise<void> {
  const nowMs = clock.now()
  const reason = truncateText(cleanText(describeFailure(error)), MAX_ERROR)
  const isLast = error instanceof Refused || nowMs >= task.giveUpAt
  log.warn(isLast ? 'A task of a booking failed.' : 'A task of a booking failed; the service tries again.', {
    operation: `scheduler.${task.type}`,
    error,
    metadata: { bookingId: booking.id, task: task.id, attempts: task.attempts },
  })
  const pauseMs = Math.max(retryAfterMs(error), backoffMs(task.attempts, timing.retry))
  // The last attempt is at the end of the time, not after it.
  const dueAt = isLast ? null : Math.min(nowMs + pauseMs, Math.max(task.giveUpAt, nowMs + timing.retry.baseMs))
  const commit = isLast ? kind.onGiveUp?.(booking, task, reason) : kind.onFailure?.(booking, task, reason)
  try {
    await db.transaction(async (tx) => {
      await commit?.(tx)
      await finishTask(tx, task, { status: isLast ? 'failed' : 'waiting', dueAt, lastError: reason, updatedAt: nowMs })
    })
  } catch (failure) {
    if (!(failure instanceof LeaseLost)) throw failure
  }
}

function describeFailure(error: unknown): string {
  if (error instanceof AppError && error.cause instanceof ProviderError)
    return `${error.message} (${error.cause.message})`
  if (error instanceof AppError || error instanceof Refused) return error.message
  return 'Internal error. See the log of the service.'
}

function retryAfterMs(error: unknown): number {
  return error instanceof AppError ? Number(error.headers['retry-after'] ?? 0) * 1000 : 0
}
