import { type Db, leasedRows, releaseLeasesOfDead } from '../../platform/db/index.ts'
import { type Queue, sweptWorker } from '../../platform/queue/index.ts'
import { type TaskRunDeps, taskRun } from './run.ts'
import { BOOK_QUEUE, TASKS } from './store.ts'

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

/** The limit for a job: a booking must not wait for a dead process much longer than its tasks do. */
const MAX_JOB_LEASE_MS = 8000
/** The sweep after it queues the others. */
const BOOKINGS_PER_SWEEP = 500
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
    due: () => leasedRows(db.read, db.dialect, TASKS).keysDue(clock.now(), BOOKINGS_PER_SWEEP),
    sweepMs: timing.sweepMs,
    operation: 'scheduler.sweep',
  })

  return {
    async start(): Promise<void> {
      await releaseLeasesOfDead(db, TASKS)
      await work.start()
    },

    /** Begins no further task and waits up to `graceMs` for those that run. */
    async stop(graceMs: number): Promise<void> {
      stopping.abort()
      await work.stop(graceMs)
    },
  }
}
