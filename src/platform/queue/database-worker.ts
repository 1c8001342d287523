import { setImmediate as nextTurn } from 'node:timers/promises'
import { sleep } from '../concurrency/abort.ts'
import { type Backoff, backoffMs } from '../concurrency/retry.ts'
import type { Db } from '../db/index.ts'
import type { Ids } from '../ids.ts'
import type { Log } from '../log/index.ts'
import type { Clock } from '../time/clock.ts'
import { wholeMs } from './batcher.ts'
import { type Claim, jobStore, type RunResult } from './job-store.ts'
import { type Held, renewLeases } from './leases.ts'
import { DEFAULT_LEASE_MS, type Run, type Worker, type WorkOptions } from './queue.ts'

interface WorkerDeps {
  db: Db
  clock: Clock
  ids: Ids
  log: Log
  instanceId: string
  /** The longest time between two checks for due jobs. */
  pollMs: number
  backoff: Backoff
  /** Called when this process is busy and more jobs may be due; at most ten times a second. */
  onFull: () => void
}

/** A run in this process. */
interface Running extends Held {
  done: Promise<void>
}

/** How long a stop waits for runs that ignore their signal. */
const ABANDON_MS = 2000
/** An open transaction locks due jobs that could not be claimed: retry soon. */
const LOCKED_MS = 50
const FULL_EVERY_MS = 100
/** Shortest interval between two reads that hints cause. */
const HINT_EVERY_MS = 100
const BROKEN: Backoff = { baseMs: 100, capMs: 5000 }
/** Due again at once; not counted as a failure. */
const INTERRUPTED = { outcome: 'interrupted', nextMs: 0 } as const

/**
 * Runs the jobs of one queue in this process:
 *
 *   wake, timer ──► one transaction { record how runs ended, claim what is due } ──► runs ──► one transaction …
 *
 * These transactions never overlap, so whatever happens during one goes into the next. A timer waits for the next due
 * time, at most `pollMs`, in case a hint was lost.
 */
export class DatabaseWorker implements Worker {
  readonly #deps: WorkerDeps
  readonly #queue: string
  readonly #run: Run
  readonly #concurrency: number
  readonly #leaseMs: number
  readonly #running = new Map<string, Running>()
  /** Every run that has not ended, including those that lost their lease. */
  readonly #runs = new Set<Promise<void>>()
  readonly #leases: { stop(): void }
  #results: RunResult[] = []
  #mayBeDue = true
  #cycling: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #timerAt = Number.POSITIVE_INFINITY
  #errors = 0
  #fullAt = Number.NEGATIVE_INFINITY
  #polledAt = Number.NEGATIVE_INFINITY
  #stopping: Promise<void> | undefined
  readonly #closed = new AbortController()

  constructor(deps: WorkerDeps, queue: string, { concurrency, leaseMs = DEFAULT_LEASE_MS }: WorkOptions, run: Run) {
    this.#deps = deps
    this.#queue = queue
    this.#run = run
    this.#concurrency = concurrency
    this.#leaseMs = leaseMs
    this.#leases = renewLeases({
      clock: deps.clock,
      leaseMs,
      held: () => [...this.#running.values()],
      renew: (held) => deps.db.transaction((tx) => jobStore(tx, deps.db.dialect).renew(queue, held, leaseMs)),
      onError: (error) => this.#warn('Cannot renew the leases of running jobs; retrying.', error),
    })
    this.#cycle()
  }

  /** True when this worker would claim a due job at once. */
  get hasCapacity(): boolean {
    return this.#stopping === undefined && this.#running.size < this.#concurrency
  }

  /** True while runs of all these jobs are under way in this process. */
  runsAll(keys: readonly string[]): boolean {
    return keys.every((key) => this.#running.has(key))
  }

  /** Checks for due jobs. */
  wake(): void {
    this.#mayBeDue = true
    this.#cycle()
  }

  /** Checks for due jobs soon, because another instance is busy. Every instance gets such a hint, so it reads before it claims. */
  wakeByHint(): void {
    if (this.hasCapacity) this.#wakeIn(Math.max(1, this.#polledAt + HINT_EVERY_MS - this.#deps.clock.monotonic()))
    else this.#mayBeDue = true
  }

  stop(graceMs: number): Promise<void> {
    this.#stopping ??= this.#stop(graceMs)
    return this.#stopping
  }

  async #stop(graceMs: number): Promise<void> {
    clearTimeout(this.#timer)
    // `#stopping` is set only after this function's first await.
    await Promise.resolve()
    const ended = new AbortController()
    const ending = this.#end().then(() => ended.abort())
    await sleep(graceMs, ended.signal)
    for (const running of this.#running.values()) running.controller.abort(new Error('the worker is stopping'))
    await sleep(ABANDON_MS, ended.signal)
    this.#closed.abort()
    this.#leases.stop()
    if (ended.signal.aborted) await ending
  }

  /** Resolves when no run is under way and every result is recorded. */
  async #end(): Promise<void> {
    while (this.#runs.size > 0 || this.#results.length > 0 || this.#cycling !== undefined) {
      await Promise.all(this.#runs)
      this.#cycle()
      await this.#cycling
      if (this.#closed.signal.aborted) return
    }
  }

  #cycle(): void {
    this.#cycling ??= this.#cycles().finally(() => {
      this.#cycling = undefined
      if (this.#hasWork) this.#cycle() // Woken after the last check.
    })
  }

  get #canClaim(): boolean {
    return this.#mayBeDue && this.hasCapacity
  }

  get #hasWork(): boolean {
    return (this.#results.length > 0 || this.#canClaim) && !this.#closed.signal.aborted
  }

  async #cycles(): Promise<void> {
    // Runs that end in one round of the event loop are recorded together.
    await nextTurn()
    while (this.#hasWork) {
      try {
        await this.#oneCycle()
        this.#errors = 0
      } catch (error) {
        this.#mayBeDue = true
        this.#errors += 1
        if (this.#errors === 1) this.#warn('Cannot read or write the queue; retrying.', error)
        await sleep(backoffMs(this.#errors, BROKEN), this.#closed.signal)
      }
      await nextTurn()
    }
  }

  async #oneCycle(): Promise<void> {
    const claiming = this.#canClaim
    if (claiming) this.#mayBeDue = false
    const limit = claiming ? this.#concurrency - this.#running.size : 0
    const leasedUntil = this.#deps.clock.monotonic() + this.#leaseMs
    const { dueInMs, claims } = await this.#write(limit)
    if (dueInMs !== undefined) this.#wakeIn(dueInMs)
    for (const claim of claims) this.#start(claim, leasedUntil)
    if (!claiming) return
    if (claims.length < limit) return this.#setTimer(LOCKED_MS)
    this.#mayBeDue = true
    this.#full()
  }

  /** Reports that more jobs may be due than this process can run. */
  #full(): void {
    const now = this.#deps.clock.monotonic()
    if (now - this.#fullAt < FULL_EVERY_MS) return
    this.#fullAt = now
    this.#deps.onFull()
  }

  async #write(limit: number): Promise<{ dueInMs: number | undefined; claims: Claim[] }> {
    const { db, ids, instanceId } = this.#deps
    const lease = ids('job')
    const results = this.#results
    this.#results = []
    try {
      return await db.transaction(async (tx) => {
        const store = jobStore(tx, db.dialect)
        const dueInMs = results.length > 0 ? await store.finish(this.#queue, results) : undefined
        const claims = limit > 0 ? await store.claim(this.#queue, limit, lease, this.#leaseMs, instanceId) : []
        return { dueInMs, claims }
      })
    } catch (error) {
      this.#results.unshift(...results)
      throw error
    }
  }

  async #setTimer(atLeastMs: number): Promise<void> {
    const { db, pollMs } = this.#deps
    const dueInMs = await jobStore(db.read, db.dialect).dueInMs(this.#queue)
    this.#wakeIn(Math.max(dueInMs ?? pollMs, atLeastMs))
  }

  #wakeIn(ms: number): void {
    if (ms <= 0) {
      this.#mayBeDue = true
      return
    }
    const { clock, pollMs } = this.#deps
    const inMs = Math.min(ms, pollMs)
    const at = clock.monotonic() + inMs
    if (at >= this.#timerAt || this.#stopping !== undefined) return
    clearTimeout(this.#timer)
    this.#timerAt = at
    this.#timer = setTimeout(() => {
      this.#timerAt = Number.POSITIVE_INFINITY
      void this.#poll()
    }, inMs)
  }

  /** Reads before it writes: an idle queue costs one small read per `pollMs`. */
  async #poll(): Promise<void> {
    this.#polledAt = this.#deps.clock.monotonic()
    try {
      await this.#setTimer(0)
    } catch {
      this.#mayBeDue = true // The next cycle fails too, logs and waits.
    }
    if (this.#canClaim) this.#cycle()
  }

  #start(claim: Claim, leasedUntil: number): void {
    if (this.#stopping !== undefined) {
      this.#results.push({ ...claim, ...INTERRUPTED })
      return
    }
    const before = this.#running.get(claim.key)?.done
    const running: Running = { ...claim, controller: new AbortController(), leasedUntil, done: Promise.resolve() }
    // Waits for an earlier run here that lost its lease but has not ended.
    running.done = (before ?? Promise.resolve()).then(() => this.#runOne(running))
    this.#running.set(claim.key, running)
    this.#runs.add(running.done)
    void running.done.then(() => this.#runs.delete(running.done))
  }

  /** Never rejects. */
  async #runOne(running: Running): Promise<void> {
    const { key, lease, failures, controller } = running
    let result: RunResult
    try {
      const next = await this.#run(key, { signal: controller.signal })
      const nextMs = next === undefined ? null : wholeMs(next.nextRunInMs)
      result = { key, lease, outcome: 'completed', nextMs }
    } catch (error) {
      result = { key, lease, outcome: 'failed', nextMs: backoffMs(failures + 1, this.#deps.backoff) }
      if (!controller.signal.aborted) this.#warn('A job failed; it will run again.', error, { key, failures })
    }
    // An aborted run may be incomplete, whatever it returned.
    if (controller.signal.aborted) result = { key, lease, ...INTERRUPTED }
    if (this.#running.get(key) === running) this.#running.delete(key)
    this.#results.push(result)
    this.#cycle()
  }

  #warn(message: string, error: unknown, metadata: Record<string, unknown> = {}): void {
    this.#deps.log.warn(message, { operation: 'queue.work', error, metadata: { queue: this.#queue, ...metadata } })
  }
}
