import { type Backoff, backoffMs } from '../concurrency/retry.ts'
import type { Clock } from '../time/clock.ts'
import type { Run } from './queue.ts'

/** A job that waits in this process. */
interface Waiting {
  /** Monotonic. */
  dueAt: number
  failures: number
}

interface LocalRunsOptions {
  clock: Clock
  backoff: Backoff
  /** Called when a job waits here, so that the caller moves it to Redis as soon as possible. */
  onWaiting(): void
  onFailure(error: unknown, key: string, failures: number): void
}

/** Beyond this, jobs are dropped: the sweepers of the features add them again. */
const MAX_WAITING = 10_000

/**
 * The jobs of one queue that Redis did not accept. They run in this process if it has a worker of the queue, else they wait.
 * Two processes may then run one key at the same time; leases and fences on the rows of the feature make that safe.
 */
export class LocalRuns {
  readonly #options: LocalRunsOptions
  readonly #waiting = new Map<string, Waiting>()
  readonly #running = new Map<string, Promise<void>>()
  #worker: { concurrency: number; run: Run; ending: AbortController } | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(options: LocalRunsOptions) {
    this.#options = options
  }

  /** Keeps the earlier time of a waiting job. A running job runs once more afterwards. */
  add(key: string, delayMs: number, failures = 0): void {
    const dueAt = this.#options.clock.monotonic() + delayMs
    const waiting = this.#waiting.get(key)
    if (waiting === undefined && this.#waiting.size >= MAX_WAITING) return
    if (waiting === undefined || dueAt < waiting.dueAt) this.#waiting.set(key, { dueAt, failures })
    this.#options.onWaiting()
    this.#runDue()
  }

  /** Removes and returns the waiting jobs. */
  take(): { key: string; delayMs: number }[] {
    const now = this.#options.clock.monotonic()
    const taken = [...this.#waiting].map(([key, { dueAt }]) => ({ key, delayMs: Math.max(0, dueAt - now) }))
    this.#waiting.clear()
    clearTimeout(this.#timer)
    return taken
  }

  start(concurrency: number, run: Run): void {
    this.#worker = { concurrency, run, ending: new AbortController() }
    this.#runDue()
  }

  /** Starts no further runs. `abort` aborts the running ones; `ended` resolves when all have ended. */
  stop(): { abort(reason: Error): void; ended: Promise<void> } {
    const ending = this.#worker?.ending
    this.#worker = undefined
    clearTimeout(this.#timer)
    return {
      abort: (reason) => ending?.abort(reason),
      ended: Promise.all(this.#running.values()).then(() => undefined),
    }
  }

  #runDue(): void {
    clearTimeout(this.#timer)
    if (this.#worker === undefined) return
    const now = this.#options.clock.monotonic()
    let nextAt = Number.POSITIVE_INFINITY
    for (const [key, { dueAt, failures }] of this.#waiting) {
      if (this.#running.size >= this.#worker.concurrency) return
      if (this.#running.has(key)) continue
      if (dueAt <= now) this.#start(key, failures, this.#worker)
      else nextAt = Math.min(nextAt, dueAt)
    }
    if (nextAt < Number.POSITIVE_INFINITY) this.#timer = setTimeout(() => this.#runDue(), nextAt - now)
  }

  #start(key: string, failures: number, { run, ending }: { run: Run; ending: AbortController }): void {
    this.#waiting.delete(key)
    const ended = run(key, { signal: ending.signal })
      .then((next) => next && this.add(key, next.nextRunInMs))
      .catch((error: unknown) => {
        if (!ending.signal.aborted) this.#options.onFailure(error, key, failures)
        this.add(key, backoffMs(failures + 1, this.#options.backoff), failures + 1)
      })
      .finally(() => {
        this.#running.delete(key)
        this.#runDue()
      })
    this.#running.set(key, ended)
  }
}
