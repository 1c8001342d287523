import type { Backoff } from '../../platform/concurrency/retry.ts'

export interface CalendarTiming {
  pollMs: number
  /** Calendars whose changes the provider notifies are polled in case a notification is lost. */
  pushedMs: number
  /** Between two runs of an account for notified changes: a program may change many events one by one. */
  notifiedMs: number
  /** How many accounts one process syncs at once. */
  concurrency: number
  retry: Backoff
}

export const DEFAULT_TIMING: CalendarTiming = {
  pollMs: 60_000,
  pushedMs: 600_000,
  notifiedMs: 1000,
  concurrency: 16,
  retry: { baseMs: 5000, capMs: 600_000 },
}

/** The calendars that a run reads. Times are monotonic. */
export interface RunPlan {
  startedAt: number
  /** When all calendars were last read, or `startedAt` if this run reads all. */
  allAt: number
  /** Every calendar is read, also those whose changes the provider would have notified. */
  isComplete: boolean
  /** The calendars are listed first, however recently they were. */
  isListed: boolean
  /** Failing calendars are read at once. */
  isRetried: boolean
}

/** Decides what the next run of each account reads. In memory only: a new owner begins with a complete run. */
export class RunPlans {
  readonly #timing: Pick<CalendarTiming, 'pollMs' | 'pushedMs' | 'notifiedMs'>
  /** When accounts were last read: all of their calendars, and any. Absent after a failure. */
  readonly #reads = new Map<string, { allAt: number; lastAt: number }>()
  /** Accounts whose next run lists the calendars and reads every one. */
  readonly #complete = new Set<string>()
  /** Accounts whose next run reads failing calendars at once, because of a request or because the access changed. */
  readonly #retried = new Set<string>()

  constructor(timing: Pick<CalendarTiming, 'pollMs' | 'pushedMs' | 'notifiedMs'>) {
    this.#timing = timing
  }

  /** The next run lists the calendars and reads every one. */
  requestComplete(accountId: string): void {
    this.#complete.add(accountId)
  }

  /** The next run reads failing calendars, too. */
  requestRetry(accountId: string): void {
    this.#retried.add(accountId)
  }

  /** The next run reads every calendar. Returns false when they were just read, or are about to be. */
  requestRefresh(accountId: string, now: number): boolean {
    const read = this.#reads.get(accountId)
    if (read === undefined || now - read.allAt < this.#timing.pollMs) return false
    this.#reads.set(accountId, { ...read, allAt: Number.NEGATIVE_INFINITY })
    return true
  }

  /** Begins a run, or returns for how long it must wait. The next run is complete unless `recordRead` follows. */
  take(accountId: string, now: number): RunPlan | { waitMs: number } {
    const { pushedMs, notifiedMs } = this.#timing
    const before = this.#reads.get(accountId)
    const isComplete = this.#complete.has(accountId) || before === undefined || now - before.allAt >= pushedMs
    const allAt = isComplete ? now : before.allAt
    const waitMs = isComplete ? 0 : before.lastAt + notifiedMs - now
    if (waitMs > 0) return { waitMs }
    const isListed = this.#complete.delete(accountId)
    const isRetried = this.#retried.delete(accountId)
    this.#reads.delete(accountId)
    return { startedAt: now, allAt, isComplete, isListed, isRetried }
  }

  /** The run has read what it should. */
  recordRead(accountId: string, { allAt }: RunPlan, now: number): void {
    this.#reads.set(accountId, { allAt, lastAt: now })
  }

  /** This process no longer owns the account. */
  forget(accountId: string): void {
    this.#reads.delete(accountId)
    this.#complete.delete(accountId)
    this.#retried.delete(accountId)
  }
}
