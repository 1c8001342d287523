import { setImmediate as nextTurn } from 'node:timers/promises'
import { sleep } from '../../lib/abort.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Ids } from '../../lib/ids.ts'
import { type Backoff, backoffMs } from '../../lib/retry.ts'
import type { Db } from '../db/index.ts'
import type { Log } from '../log/index.ts'
import { type Claim, type Ending, jobStore } from './job-store.ts'
import { type Held, LeaseKeeper } from './lease-keeper.ts'
import type { Run, Worker, WorkOptions } from './queue.ts'
import { errorText } from './run-error.ts'

export interface WorkerDeps {
  db: Db
  clock: Clock
  ids: Ids
  log: Log
  instanceId: string
  /** How often the lane is looked at when nobody wakes the worker. */
  pollMs: number
  backoff: Backoff
  /** Told when every free place was taken and more may be due; at most ten times a second. */
  onFull: () => void
}

/** One run under way in this process. */
interface Running extends Held {
  done: Promise<void>
}

const DEFAULT_LEASE_MS = 30_000
/** How long a stop waits for runs that ignore their signal. */
const ABANDON_MS = 2000
/** Due jobs that could not be claimed are locked by somebody's open transaction: look again soon. */
const LOCKED_MS = 50
const ASK_EVERY_MS = 100
const BROKEN: Backoff = { baseMs: 100, capMs: 5000 }
/** Runs again at once, elsewhere; not counted as a failure. */
const INTERRUPTED = { outcome: 'interrupted', nextMs: 0, error: null } as const

/**
 * Runs the jobs of one lane in this process:
 *
 *   wake, timer ──► turn: one transaction { write how runs ended, claim what is due } ──► runs ──► turn …
 *
 * Turns never overlap, so whatever happens during one is gathered into the next. A timer stands at the next due time,
 * at most `pollMs` away: the net under lost hints.
 */
export class LaneWorker implements Worker {
  readonly #deps: WorkerDeps
  readonly #lane: string
  readonly #run: Run
  readonly #concurrency: number
  readonly #leaseMs: number
  readonly #running = new Map<string, Running>()
  /** Every run that has not settled, those whose lease was lost included. */
  readonly #unsettled = new Set<Promise<void>>()
  readonly #leases: LeaseKeeper
  #endings: Ending[] = []
  #mayBeDue = true
  #turning: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #timerAt = Number.POSITIVE_INFINITY
  #failures = 0
  #askedAt = Number.NEGATIVE_INFINITY
  #stopping: Promise<void> | undefined
  readonly #closed = new AbortController()

  constructor(deps: WorkerDeps, lane: string, { concurrency, leaseMs = DEFAULT_LEASE_MS }: WorkOptions, run: Run) {
    this.#deps = deps
    this.#lane = lane
    this.#run = run
    this.#concurrency = concurrency
    this.#leaseMs = leaseMs
    this.#leases = new LeaseKeeper({
      clock: deps.clock,
      leaseMs,
      held: () => [...this.#running.values()],
      renew: (held) => deps.db.transaction((tx) => jobStore(tx, deps.db.dialect).renew(lane, held, leaseMs)),
      onError: (error) => this.#warn('Leases of running jobs could not be renewed; trying again.', error),
    })
    this.#turn()
  }

  /** True when a job that is due now would be taken at once. */
  get hasRoom(): boolean {
    return this.#stopping === undefined && this.#running.size < this.#concurrency
  }

  /** There may be something to claim. */
  wake(): void {
    this.#mayBeDue = true
    this.#turn()
  }

  stop(graceMs: number): Promise<void> {
    this.#stopping ??= this.#stop(graceMs)
    return this.#stopping
  }

  async #stop(graceMs: number): Promise<void> {
    clearTimeout(this.#timer)
    // The field that says "stopping" is set only after this function's first await.
    await Promise.resolve()
    const settled = new AbortController()
    const settling = this.#settle().then(() => settled.abort())
    await sleep(graceMs, settled.signal)
    for (const running of this.#running.values()) running.controller.abort(new Error('the worker is stopping'))
    await sleep(ABANDON_MS, settled.signal)
    this.#closed.abort()
    this.#leases.stop()
    if (settled.signal.aborted) await settling
  }

  /** Resolves when no run is under way and every ending is written. */
  async #settle(): Promise<void> {
    while (this.#unsettled.size > 0 || this.#endings.length > 0 || this.#turning !== undefined) {
      await Promise.all(this.#unsettled)
      this.#turn()
      await this.#turning
      if (this.#closed.signal.aborted) return
    }
  }

  #turn(): void {
    this.#turning ??= this.#turns().finally(() => {
      this.#turning = undefined
      if (this.#hasToTurn) this.#turn() // Woken after the last look at it.
    })
  }

  get #canClaim(): boolean {
    return this.#mayBeDue && this.hasRoom
  }

  get #hasToTurn(): boolean {
    return (this.#endings.length > 0 || this.#canClaim) && !this.#closed.signal.aborted
  }

  async #turns(): Promise<void> {
    // Runs that end in one round of the event loop are written together.
    await nextTurn()
    while (this.#hasToTurn) {
      try {
        await this.#oneTurn()
        this.#failures = 0
      } catch (error) {
        this.#mayBeDue = true
        this.#failures += 1
        if (this.#failures === 1) this.#warn('The queue cannot be read or written; trying again.', error)
        await sleep(backoffMs(this.#failures, BROKEN), this.#closed.signal)
      }
      await nextTurn()
    }
  }

  async #oneTurn(): Promise<void> {
    const claiming = this.#canClaim
    if (claiming) this.#mayBeDue = false
    const limit = claiming ? this.#concurrency - this.#running.size : 0
    const leasedUntil = this.#deps.clock.monotonic() + this.#leaseMs
    const { again, claims } = await this.#write(limit)
    for (const { dueInMs } of again) this.#wakeIn(dueInMs)
    for (const claim of claims) this.#start(claim, leasedUntil)
    if (!claiming) return
    if (claims.length < limit) return this.#look(LOCKED_MS)
    this.#mayBeDue = true
    this.#askForHelp()
  }

  /** There may be more than this process can take. */
  #askForHelp(): void {
    const now = this.#deps.clock.monotonic()
    if (now - this.#askedAt < ASK_EVERY_MS) return
    this.#askedAt = now
    this.#deps.onFull()
  }

  /** The one transaction of a turn. */
  async #write(limit: number): Promise<{ again: { dueInMs: number }[]; claims: Claim[] }> {
    const { db, ids, instanceId } = this.#deps
    const lease = ids('job')
    const endings = this.#endings
    this.#endings = []
    try {
      return await db.transaction(async (tx) => {
        const store = jobStore(tx, db.dialect)
        const again = endings.length > 0 ? await store.finish(this.#lane, endings) : []
        const claims = limit > 0 ? await store.claim(this.#lane, limit, lease, this.#leaseMs, instanceId) : []
        return { again, claims }
      })
    } catch (error) {
      this.#endings.unshift(...endings)
      throw error
    }
  }

  /** Asks the store when something is due next, and sets the timer. */
  async #look(atLeastMs: number): Promise<void> {
    const { db, pollMs } = this.#deps
    const dueInMs = await jobStore(db.read, db.dialect).dueInMs(this.#lane)
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

  /** Reads before it writes: an idle lane costs one small read per `pollMs`. */
  async #poll(): Promise<void> {
    try {
      await this.#look(0)
    } catch {
      this.#mayBeDue = true // The turn meets the same trouble, waits and reports.
    }
    if (this.#canClaim) this.#turn()
  }

  #start(claim: Claim, leasedUntil: number): void {
    if (this.#stopping !== undefined) {
      this.#endings.push({ ...claim, ...INTERRUPTED })
      return
    }
    const before = this.#running.get(claim.subject)?.done
    const controller = new AbortController()
    const running: Running = { ...claim, controller, leasedUntil, done: Promise.resolve() }
    // A run whose lease was lost may still be under way here: never beside it.
    running.done = (before ?? Promise.resolve()).then(() => this.#runOne(running))
    this.#running.set(claim.subject, running)
    this.#unsettled.add(running.done)
    void running.done.then(() => this.#unsettled.delete(running.done))
  }

  /** Never rejects. */
  async #runOne(running: Running): Promise<void> {
    const { subject, lease, attempts, controller } = running
    let ending: Ending
    try {
      const answer = await this.#run(subject, { attempts, signal: controller.signal })
      const nextMs = answer === undefined ? null : Math.max(0, Math.round(answer.nextRunInMs))
      ending = { subject, lease, outcome: 'completed', nextMs, error: null }
    } catch (error) {
      const nextMs = backoffMs(attempts + 1, this.#deps.backoff)
      ending = { subject, lease, outcome: 'failed', nextMs, error: errorText(error) }
      if (!controller.signal.aborted) this.#warn('A job failed and will be tried again.', error, { subject, attempts })
    }
    // Whatever a run answers after it was told to stop: the next worker looks again.
    if (controller.signal.aborted) ending = { subject, lease, ...INTERRUPTED }
    if (this.#running.get(subject) === running) this.#running.delete(subject)
    this.#endings.push(ending)
    this.#turn()
  }

  #warn(message: string, error: unknown, metadata: Record<string, unknown> = {}): void {
    this.#deps.log.warn(message, { operation: 'queue.work', error, metadata: { lane: this.#lane, ...metadata } })
  }
}
