import { sleep } from '../concurrency/abort.ts'
import { eachInTurns } from '../concurrency/event-loop.ts'
import { type Backoff, backoffMs } from '../concurrency/retry.ts'
import { cleanText, truncateText } from '../formats/text.ts'
import type { Log } from '../log/index.ts'
import type { Clock } from '../time/clock.ts'
import { RunQueue } from './run-queue.ts'

export interface OwnedSchedulerOptions {
  clock: Clock
  log: Log
  /** The `operation` of log lines. */
  operation: string
  /** How many accounts run at once. */
  concurrency: number
  /** How many of them may belong to one group; default: all. */
  perGroup?: number
  /** Delays after a run that threw. */
  backoff: Backoff
  run(accountId: string, context: RunContext): Promise<RunResult>
  /** Returns for how many milliseconds the account must not start; 0 to start now. Called before each start; synchronous. */
  heldMs?(accountId: string): number
}

export interface RunContext {
  /** Aborts when the account was lost or the scheduler stops; the run should then end quickly. */
  signal: AbortSignal
  /** Failures in a row before this run. */
  failures: number
}

/** The result of a run. A run that throws counts as failed and is retried after the backoff. */
export interface RunResult {
  /** Absent: the account runs again only on request. */
  nextRunInMs?: number
  /** Why the run counts as failed; `nextRunInMs` then says when to retry, if at all. */
  failure?: unknown
}

export interface RunState {
  state: 'idle' | 'waiting' | 'active'
  /** Failures in a row. */
  attempts: number
  /** Wall time. */
  lastRunAt: number | null
  /** Wall time; null when nothing is planned. */
  nextRunAt: number | null
  lastError: string | null
}

export interface RunTotals {
  accounts: number
  waiting: number
  active: number
  delayed: number
  /** Successful and failed runs since the process started. */
  completed: number
  failed: number
}

interface Job {
  failures: number
  lastRunAt: number | null
  lastError: string | null
  running?: { controller: AbortController; done: Promise<void> }
}

const MAX_ERROR_CHARS = 500
/** Maximum starts per turn of the event loop, because on the file store a run may complete within one turn. */
const STARTS_PER_TURN = 4
/** Longer delays wait in several timers, because setTimeout overflows after 24 days. */
const MAX_TIMER_MS = 60 * 60 * 1000
/** How long a stop waits for runs that ignore their signal. */
const ABANDON_MS = 2000

/**
 * Schedules the accounts that this process owns, in memory:
 *
 *   gained, requested, due ──► FIFO queue of the group ──► free slot ──► run ──► due again later, or idle
 *
 * Never runs one account twice at the same time. A request during a run leads to one more run. Nothing here survives the
 * process: the next owner of an account runs it at once.
 */
export class OwnedScheduler {
  readonly #options: OwnedSchedulerOptions
  readonly #queue: RunQueue
  readonly #jobs = new Map<string, Job>()
  #completed = 0
  #failed = 0
  #startsThisTurn = 0
  #nextTurn: NodeJS.Immediate | undefined
  #timer: NodeJS.Timeout | undefined
  #timerAt = Number.POSITIVE_INFINITY
  #stopping: Promise<void> | undefined

  constructor(options: OwnedSchedulerOptions) {
    this.#options = options
    const { concurrency, perGroup = concurrency } = options
    this.#queue = new RunQueue({ concurrency, perGroup })
  }

  /** The account was gained or changed: it runs as soon as a slot is free. */
  add(accountId: string, group = ''): void {
    if (this.#stopping !== undefined) return
    if (!this.#queue.has(accountId)) this.#forgetRuns(accountId)
    this.#queue.add(accountId, group)
    this.#startDue()
  }

  /** The account was lost: aborts its run and forgets it. */
  remove(accountId: string): void {
    const job = this.#jobs.get(accountId)
    job?.running?.controller.abort(new Error('this process no longer owns the account'))
    this.#queue.remove(accountId)
    if (job?.running === undefined) this.#jobs.delete(accountId)
  }

  /** Runs the account now, or once more when it runs already. Does nothing for an account that is not owned. */
  request(accountId: string): void {
    this.#queue.request(accountId)
    this.#startDue()
  }

  /** Forgets failures and runs every account now. Resolves once all are due. */
  async retryAll(): Promise<void> {
    await eachInTurns(this.#jobs.values(), (job) => {
      job.failures = 0
    })
    await eachInTurns(this.#queue.ids(), (accountId) => this.request(accountId))
  }

  has(accountId: string): boolean {
    return this.#queue.has(accountId)
  }

  /** Undefined for an account that is not owned. */
  state(accountId: string): RunState | undefined {
    const found = this.#queue.has(accountId) ? this.#queue.find(accountId) : undefined
    const job = this.#jobs.get(accountId)
    if (found === undefined || job === undefined) return undefined
    const { clock } = this.#options
    return {
      state: found.state === 'running' ? 'active' : found.state,
      attempts: job.failures,
      lastRunAt: job.lastRunAt,
      nextRunAt:
        found.dueAt === undefined ? null : clock.now() + Math.max(0, Math.round(found.dueAt - clock.monotonic())),
      lastError: job.lastError,
    }
  }

  totals(): RunTotals {
    return { ...this.#queue.counts, completed: this.#completed, failed: this.#failed }
  }

  /** Starts no further runs and waits for the running ones. Aborts them after `graceMs` and returns two seconds later at the latest. */
  stop(graceMs: number): Promise<void> {
    this.#stopping ??= this.#stop(graceMs)
    return this.#stopping
  }

  async #stop(graceMs: number): Promise<void> {
    clearTimeout(this.#timer)
    clearImmediate(this.#nextTurn)
    const runs: NonNullable<Job['running']>[] = []
    for (const { running } of this.#jobs.values()) if (running !== undefined) runs.push(running)
    const ended = new AbortController()
    const all = Promise.all(runs.map(({ done }) => done)).then(() => ended.abort())
    await Promise.race([all, sleep(graceMs, ended.signal)])
    for (const { controller } of runs) controller.abort(new Error('the service stops'))
    await Promise.race([all, sleep(ABANDON_MS, ended.signal)])
  }

  #forgetRuns(accountId: string): void {
    const running = this.#jobs.get(accountId)?.running
    this.#jobs.set(accountId, { failures: 0, lastRunAt: null, lastError: null, ...(running && { running }) })
  }

  /** Starts due accounts, a few per turn of the event loop, and sets the timer for the next due time. */
  #startDue(): void {
    if (this.#stopping !== undefined) return
    const { clock, heldMs = () => 0 } = this.#options
    while (this.#startsThisTurn < STARTS_PER_TURN) {
      const accountId = this.#queue.take(clock.monotonic(), heldMs)
      if (accountId === undefined) {
        this.#setTimer()
        return
      }
      this.#countStart()
      this.#start(accountId)
    }
  }

  #countStart(): void {
    this.#startsThisTurn += 1
    this.#nextTurn ??= setImmediate(() => {
      this.#nextTurn = undefined
      this.#startsThisTurn = 0
      this.#startDue()
    })
  }

  #start(accountId: string): void {
    const job = this.#jobs.get(accountId) ?? { failures: 0, lastRunAt: null, lastError: null }
    const controller = new AbortController()
    this.#jobs.set(accountId, job)
    job.lastRunAt = this.#options.clock.now()
    const done = this.#run(accountId, job.failures, controller.signal).then((result) => this.#end(accountId, result))
    job.running = { controller, done }
  }

  async #run(accountId: string, failures: number, signal: AbortSignal): Promise<RunResult> {
    const { run, backoff, log, operation } = this.#options
    try {
      return await run(accountId, { signal, failures })
    } catch (failure) {
      const nextRunInMs = backoffMs(failures + 1, backoff)
      if (!signal.aborted) {
        log.warn('The run of an account failed and will be retried.', {
          accountId,
          operation,
          error: failure,
          metadata: { attempts: failures + 1, nextRunInMs },
        })
      }
      return { failure, nextRunInMs }
    }
  }

  #end(accountId: string, { nextRunInMs, failure }: RunResult): void {
    const job = this.#jobs.get(accountId)
    const isAborted = job?.running?.controller.signal.aborted === true
    if (job !== undefined) {
      delete job.running
      if (!isAborted) this.#record(job, failure)
    }
    const dueAt = nextRunInMs === undefined ? undefined : this.#options.clock.monotonic() + nextRunInMs
    this.#queue.finish(accountId, dueAt)
    if (!this.#queue.has(accountId)) this.#jobs.delete(accountId)
    this.#startDue()
  }

  #record(job: Job, failure: unknown): void {
    if (failure === undefined) {
      this.#completed += 1
      job.failures = 0
      job.lastError = null
    } else {
      this.#failed += 1
      job.failures += 1
      job.lastError = errorText(failure)
    }
  }

  #setTimer(): void {
    const dueAt = this.#queue.nextDueAt ?? Number.POSITIVE_INFINITY
    if (dueAt === this.#timerAt) return
    clearTimeout(this.#timer)
    this.#timerAt = dueAt
    if (dueAt === Number.POSITIVE_INFINITY) return
    const delayMs = Math.ceil(dueAt - this.#options.clock.monotonic())
    this.#timer = setTimeout(
      () => {
        this.#timerAt = Number.NaN
        this.#startDue()
      },
      Math.min(Math.max(0, delayMs), MAX_TIMER_MS),
    )
  }
}

/** An error as operators see it. */
export function errorText(error: unknown): string {
  return truncateText(cleanText(error instanceof Error ? error.message : String(error)), MAX_ERROR_CHARS)
}
