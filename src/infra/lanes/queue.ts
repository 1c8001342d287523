import type { Tx } from '../db/index.ts'

/**
 * A queue of subjects, not of payloads: "drain endpoint whe_1", "sync account acc_7". The rows of the rooms are the
 * truth; losing a job only costs time, because every room re-announces what is due.
 *
 * Contract (see `conformance.ts`):
 * - One job per lane and subject. Adding it again while it waits keeps the earlier time; adding it while it runs makes
 *   it run once more afterwards, so a change made before the `add` is always seen by a run that starts after it.
 * - At least once, and never two runs of one subject at the same time, unless a worker stopped answering for longer than its lease.
 * - A run that throws is tried again after a backoff, without end; `attempts` counts the failures in a row.
 */
export interface Lanes {
  readonly provider: 'database' | 'redis'
  add(lane: string, subject: string, options?: AddOptions): Promise<void>
  /** As `add`, for many subjects, taking effect with the commit of `tx`. */
  addIn(tx: Tx, lane: string, subjects: readonly string[], options?: AddOptions): Promise<void>
  /** Starts taking jobs of a lane; one call per lane and process. */
  work(lane: string, options: WorkOptions, run: Run): Worker
  stats(lane: string): Promise<LaneStats>
  /** What is known of one subject; undefined when it never had a job. */
  find(lane: string, subject: string): Promise<JobState | undefined>
  /** Forgets a subject. A run in progress ends by itself; what is added meanwhile runs after it. */
  remove(lane: string, subject: string): Promise<void>
  /** Forgets a whole lane, such as that of an instance that is gone. Answers how many subjects it had. */
  dropLane(lane: string): Promise<number>
  /** The lanes that have subjects and whose name begins with `prefix`, in order. */
  lanes(prefix: string): Promise<string[]>
  /** Makes every job that waits for a backoff or a later time due now and forgets its attempts. Answers how many. */
  clear(lane: string): Promise<number>
  pause(lane: string): Promise<void>
  resume(lane: string): Promise<void>
  /** Frees the leases of a process known to be dead: its subjects are due at once. As after a lease that ran out, the run counts as failed. */
  releaseInstance(instanceId: string): Promise<void>
  ping(): Promise<void>
  /** Waits for nothing: stop the workers first. */
  close(): Promise<void>
}

export interface AddOptions {
  /** Not before this many milliseconds from now; default 0. */
  delayMs?: number
}

export interface WorkOptions {
  /** How many subjects run at once in this process. */
  concurrency: number
  /** How long a silent worker keeps its job; renewed while the run goes on. Default 30,000. */
  leaseMs?: number
}

export interface RunContext {
  /** Failures in a row before this run. */
  attempts: number
  /** Aborts when the worker stops or the lease was lost: finish or give up quickly. */
  signal: AbortSignal
}

/** Answers when the subject should run again, if nobody asks earlier. Throwing means failure and backoff. */
export type Run = (subject: string, context: RunContext) => Promise<undefined | { nextRunInMs: number }>

export interface Worker {
  /**
   * Takes no more jobs and waits for those running; their signal aborts after `graceMs`, and two seconds later they are
   * waited for no longer. What was aborted runs again elsewhere, whatever it answers, and does not count as failed.
   */
  stop(graceMs: number): Promise<void>
}

export interface LaneStats {
  /** Due now. */
  waiting: number
  active: number
  /** Waiting for a later time. */
  delayed: number
  /** Runs that ended well and badly, since the lane exists. */
  completed: number
  failed: number
  paused: boolean
  /** Subjects known. */
  subjects: number
}

export interface JobState {
  state: 'idle' | 'waiting' | 'active'
  attempts: number
  lastRunAt: number | null
  nextRunAt: number | null
  lastError: string | null
}
