import type { Clock } from '../../lib/clock.ts'
import { type Backoff, backoffMs } from '../../lib/retry.ts'
import type { SyncStateRow } from './store.ts'

/**
 * The growing pauses of an account whose server exceeds limits. A sync that succeeds does not reset them, because a server may behave
 * until the next flood; two longest pauses without a violation do.
 */
export class LimitPauses {
  readonly #clock: Clock
  readonly #backoff: Backoff
  #violations = 0
  #lastAt = Number.NEGATIVE_INFINITY

  constructor(clock: Clock, backoff: Backoff) {
    this.#clock = clock
    this.#backoff = backoff
  }

  /** Continues the pauses of an earlier process. Returns how much is left of the last one. */
  resume({ attempts, nextRunAt }: SyncStateRow): number {
    this.#violations = attempts
    this.#lastAt = this.#clock.monotonic()
    return Math.max(0, (nextRunAt ?? 0) - this.#clock.now())
  }

  /** Returns the violations in a row, and the next pause. */
  next(): { violations: number; pauseMs: number } {
    const nowMs = this.#clock.monotonic()
    if (nowMs - this.#lastAt > 2 * this.#backoff.capMs) this.#violations = 0
    this.#violations += 1
    this.#lastAt = nowMs
    return { violations: this.#violations, pauseMs: backoffMs(this.#violations, this.#backoff) }
  }

  reset(): void {
    this.#violations = 0
  }
}
