import type { Db } from '../../platform/db/index.ts'
import { type Queue, sweptWorker } from '../../platform/queue/index.ts'
import { type TaskRunDeps, taskRun } from './run.ts'
import { BOOK_QUEUE, bookingsDue, releaseAllClaims } from './store.ts'

export interface TaskTiming {
  /** How long a silent run keeps its task; renewed while it works. */
  leaseMs: number
  /** How often due tasks are queued again. */
  sweepMs: number
  retry: { baseMs: number; capMs: number }
  /** After which the application is asked again about a booking whose process died. Default 30 s. */
  askAgainMs?: number
}

const TASK_TIMING: TaskTiming = {
  leaseMs: 30_000,
  sweepMs: 15_000,
  retry: { baseMs: 5000, capMs: 15 * 60_000 },
}

interface TaskEngineDeps extends Omit<TaskRunDeps, 'timing'> {
  db: Db
  queue: Queue
  timing?: Partial<TaskTiming>
}

/** Of a job: a booking must not wait for a dead process much longer than its tasks do. */
const MAX_JOB_LEASE_MS = 8000
/** Bookings that this process works on at once. */
const CONCURRENCY = 16

/** The background work of bookings: runs, and the sweeper that queues bookings with due tasks again. */
export function taskEngine(deps: TaskEngineDeps) {
  const { db, clock } = deps
  const timing = { ...TASK_TIMING, ...deps.timing }
  const stopping = new AbortController()
  const work = sweptWorker(deps, {
    name: BOOK_QUEUE,
    concurrency: CONCURRENCY,
    leaseMs: Math.min(timing.leaseMs, MAX_JOB_LEASE_MS),
    run: taskRun({ ...deps, timing }, stopping.signal),
    due: () => bookingsDue(db, clock.now()),
    sweepMs: timing.sweepMs,
    operation: 'scheduler.sweep',
  })

  return {
    async start(): Promise<void> {
      // The file store has one process, so every existing lease is of a dead one. On PostgreSQL leases expire.
      if (db.engine === 'sqlite') await db.transaction(releaseAllClaims)
      await work.start()
    },

    /** Begins no further task and waits up to `graceMs` for those that run. */
    async stop(graceMs: number): Promise<void> {
      stopping.abort()
      await work.stop(graceMs)
    },
  }
}
