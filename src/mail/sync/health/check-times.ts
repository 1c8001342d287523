import type { Clock } from '../../../platform/time/clock.ts'

interface CheckTime {
  /** Monotonic; when the next check should succeed. */
  dueAt: number
  /** Monotonic; from then on the account counts as stalled. */
  stallsAt: number
  /** False while no check is expected: the account is paused, or its credentials were refused. */
  isExpected: boolean
  /** The stall was stored. */
  isStored: boolean
}

/** A successful check is expected in three intervals. */
const INTERVALS = 3

/**
 * When each owned account should be checked next. It knows only successes and gains of ownership, not the scheduler, so that it finds
 * an account for whatever reason it is not synced.
 */
export class CheckTimes {
  readonly #clock: Clock
  readonly #stalledAfterMs: number
  readonly #times = new Map<string, CheckTime>()

  /** `stalledAfterMs`: the least time without a successful check before an account counts as stalled. */
  constructor(clock: Clock, stalledAfterMs: number) {
    this.#clock = clock
    this.#stalledAfterMs = stalledAfterMs
  }

  /** A check is due now, as after a gain or a change of the account. */
  expect(accountId: string): void {
    this.#set(accountId, 0)
  }

  /** The account was lost. */
  forget(accountId: string): void {
    this.#times.delete(accountId)
  }

  /** A check succeeded, and the next one is due in this time. Nothing is expected if the account was lost meanwhile. */
  succeeded(accountId: string, nextRunInMs: number): void {
    if (this.#times.has(accountId)) this.#set(accountId, nextRunInMs)
  }

  /** The check that runs has stored something, so it does not hang. */
  progressed(accountId: string): void {
    const time = this.#times.get(accountId)
    if (time !== undefined) time.stallsAt = Math.max(time.stallsAt, this.#clock.monotonic() + this.#stalledAfterMs)
  }

  /** No check can succeed before the account changes, and its status says so. */
  suspend(accountId: string): void {
    const time = this.#times.get(accountId)
    if (time !== undefined) time.isExpected = false
  }

  /** The stall was stored, so `stalled` leaves the account out until a check succeeds. */
  stored(accountId: string): void {
    const time = this.#times.get(accountId)
    if (time !== undefined) time.isStored = true
  }

  isStored(accountId: string): boolean {
    return this.#times.get(accountId)?.isStored ?? false
  }

  /** The owned accounts without a successful check in three intervals whose stall was not stored. */
  stalled(): string[] {
    const nowMs = this.#clock.monotonic()
    const found: string[] = []
    for (const [accountId, time] of this.#times) {
      if (time.isExpected && !time.isStored && nowMs >= time.stallsAt) found.push(accountId)
    }
    return found
  }

  /** How long the check of the account is overdue; null when none is expected. */
  lagMs(accountId: string): number | null {
    const time = this.#times.get(accountId)
    return time?.isExpected === true ? measureLag(time, this.#clock.monotonic()) : null
  }

  /** Over the owned accounts, those included whose stall was stored. */
  summary(): { stalledAccounts: number; greatestLagMs: number } {
    const nowMs = this.#clock.monotonic()
    const summary = { stalledAccounts: 0, greatestLagMs: 0 }
    for (const time of this.#times.values()) {
      if (!time.isExpected) continue
      if (time.isStored || nowMs >= time.stallsAt) summary.stalledAccounts += 1
      summary.greatestLagMs = Math.max(summary.greatestLagMs, measureLag(time, nowMs))
    }
    return summary
  }

  #set(accountId: string, dueInMs: number): void {
    const nowMs = this.#clock.monotonic()
    const stallsAt = nowMs + Math.max(this.#stalledAfterMs, INTERVALS * dueInMs)
    this.#times.set(accountId, { dueAt: nowMs + dueInMs, stallsAt, isExpected: true, isStored: false })
  }
}

function measureLag({ dueAt }: CheckTime, nowMs: number): number {
  return Math.max(0, Math.round(nowMs - dueAt))
}
