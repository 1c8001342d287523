import type { Backoff } from '../concurrency/retry.ts'
import type { Tx } from '../db/index.ts'

/**
 * Work that any instance may do: "deliver to endpoint whe_1", "erase account acc_7". A job is the name of a queue and a
 * key, never a payload. The feature's rows are the source of truth, and each feature has a sweeper that adds due jobs again,
 * so losing the queue delays work but loses none.
 *
 * Contract (proved by `conformance/queue.ts`):
 * - One job per queue and key. Adding it while it waits keeps the earlier time. Adding it while it runs makes it run once
 *   more afterwards, at the latest after the delay: a run may come early, and must check its rows.
 * - At least once. Two runs of one key never overlap, unless a worker was silent for longer than its lease.
 * - A run that throws is repeated after a growing delay, without end. Adding the job meanwhile runs it earlier.
 * - A finished job leaves nothing behind.
 */
export interface Queue {
  readonly provider: 'database' | 'redis'
  add(queue: string, key: string, options?: AddOptions): Promise<void>
  /** As `add`, for many keys, when `tx` commits. Only the database kind survives a crash right after the commit. */
  addIn(tx: Tx, queue: string, keys: readonly string[], options?: AddOptions): Promise<void>
  /** Starts running the jobs of a queue. Throws when this process already has a worker of that queue. */
  work(queue: string, options: WorkOptions, run: Run): Worker
  /** Releases the jobs of a dead instance. May do nothing, because their leases expire. */
  releaseInstance(instanceId: string): Promise<void>
  /** Rejects while jobs cannot be stored. */
  ping(): Promise<void>
  /** Does not wait for runs: stop the workers first. Twice safely. */
  close(): Promise<void>
}

export interface AddOptions {
  /** Not before this many milliseconds from now; default 0. */
  delayMs?: number
}

export interface WorkOptions {
  /** How many jobs run at once in this process. */
  concurrency: number
  /** How long a silent worker keeps its job. Renewed during the run. Default `DEFAULT_LEASE_MS`. */
  leaseMs?: number
}

/** Other instances take over the jobs of a dead one after this time and the next check for expired leases. */
export const DEFAULT_LEASE_MS = 8000

/** The delays between failed runs of a job; tests use shorter ones. */
export const JOB_BACKOFF: Backoff = { baseMs: 1000, capMs: 300_000 }

/** Returns when to run again unless the job is added earlier, or undefined when nothing is left to do. */
export type Run = (key: string, context: RunContext) => Promise<undefined | { nextRunInMs: number }>

export interface RunContext {
  /** Aborts when the worker stops or has lost the lease: finish or give up quickly. */
  signal: AbortSignal
}

export interface Worker {
  /**
   * Claims no further jobs and waits for the running ones. Aborts their signals after `graceMs`, and returns two seconds
   * later at the latest. Another worker repeats an aborted run, whatever it returned.
   */
  stop(graceMs: number): Promise<void>
}
