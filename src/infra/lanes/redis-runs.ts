import type { Clock } from '../../lib/clock.ts'
import { type Backoff, backoffMs } from '../../lib/retry.ts'
import type { Run } from './queue.ts'
import type { JobData } from './redis-jobs.ts'
import type { RunEnding } from './redis-ledger.ts'
import { errorText } from './run-error.ts'

/** One run under way in this process. */
export interface Running {
  subject: string
  controller: AbortController
  /** Monotonic; when others may take the job unless the lease is renewed. */
  leasedUntil: number
  done: Promise<void>
}

/** A job of BullMQ, or a subject that runs without one. */
interface Held {
  id?: string | undefined
  data: JobData
}

export interface RunsOptions {
  clock: Clock
  leaseMs: number
  backoff: Backoff
  run: Run
  /** Told of every run that failed by itself. */
  onFailure(error: unknown, subject: string, attempts: number): void
}

/** Runs again at once, elsewhere; not counted as a failure. */
export const INTERRUPTED = { outcome: 'interrupted', nextMs: 0, error: null } as const

/** The runs of one lane in this process, one per subject, each for as long as its lease is renewed. */
export class Runs {
  readonly #options: RunsOptions
  readonly #bySubject = new Map<string, Running>()
  readonly #byJob = new Map<string, Running>()
  readonly #timer: NodeJS.Timeout

  constructor(options: RunsOptions) {
    this.#options = options
    this.#timer = setInterval(() => this.#endSilentLeases(), options.leaseMs / 3)
  }

  find(subject: string): Running | undefined {
    return this.#bySubject.get(subject)
  }

  /** Keeps the subject to itself for as long as the work takes; from the very call on, so that nothing slips between. */
  async hold<T>({ id, data: { subject } }: Held, work: (running: Running) => Promise<T>): Promise<T> {
    let isDone = () => {}
    const done = new Promise<void>((resolve) => {
      isDone = resolve
    })
    const leasedUntil = id === undefined ? Number.POSITIVE_INFINITY : this.#leaseEnd()
    const running: Running = { subject, controller: new AbortController(), leasedUntil, done }
    this.#bySubject.set(subject, running)
    if (id !== undefined) this.#byJob.set(id, running)
    try {
      return await work(running)
    } finally {
      this.#bySubject.delete(subject)
      if (id !== undefined) this.#byJob.delete(id)
      isDone()
    }
  }

  /** Does the work, and says how it ended. Never rejects. */
  async outcome({ subject, controller: { signal } }: Running, attempts: number): Promise<RunEnding> {
    let ending: Omit<RunEnding, 'subject'>
    try {
      const answer = await this.#options.run(subject, { attempts, signal })
      const nextMs = answer === undefined ? null : Math.max(0, Math.round(answer.nextRunInMs))
      ending = { outcome: 'completed', nextMs, error: null }
    } catch (error) {
      const nextMs = backoffMs(attempts + 1, this.#options.backoff)
      ending = { outcome: 'failed', nextMs, error: errorText(error) }
      if (!signal.aborted) this.#options.onFailure(error, subject, attempts)
    }
    // Whatever a run answers after it was told to stop: the next worker looks again.
    return { subject, ...(signal.aborted ? INTERRUPTED : ending) }
  }

  renewed(jobIds: readonly string[]): void {
    for (const running of this.#ofJobs(jobIds)) running.leasedUntil = this.#leaseEnd()
  }

  /** Others may have these jobs by now. */
  lost(jobIds: readonly string[]): void {
    for (const running of this.#ofJobs(jobIds)) lose(running)
  }

  abortAll(reason: Error): void {
    for (const running of this.#bySubject.values()) running.controller.abort(reason)
  }

  /** Looks after leases no longer. */
  close(): void {
    clearInterval(this.#timer)
  }

  #leaseEnd(): number {
    return this.#options.clock.monotonic() + this.#options.leaseMs
  }

  #ofJobs(jobIds: readonly string[]): Running[] {
    return jobIds.flatMap((id) => this.#byJob.get(id) ?? [])
  }

  #endSilentLeases(): void {
    const now = this.#options.clock.monotonic()
    for (const running of this.#bySubject.values()) if (running.leasedUntil < now) lose(running)
  }
}

function lose(running: Running): void {
  running.controller.abort(new Error('the lease of this job was lost'))
}
