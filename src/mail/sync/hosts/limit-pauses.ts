import { type Backoff, backoffMs } from '../../../platform/concurrency/retry.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import type { SyncStateRow } from '../store.ts'

/**
 * The growing pauses of an account whose server exceeds limits. A sync that succeeds does not reset them, because a server may behave
 * until the next flood; two longest pauses without a violation do.
 */
export class LimitPauses {
  readonly #clock: Clock
  readonly #backoff: Backoff
  #violations = 0
  #lastAt = Number.NEGATIVE_INFINITY
  /** Monotonic. */
  #until = Number.NEGATIVE_INFINITY

  constructor(clock: Clock, backoff: Backoff) {
    this.#clock = clock
    this.#backoff = backoff
  }

  /** In a row. */
  get violations(): number {
    return this.#violations
  }

  /** The rest of the pause, 0 when there is none. */
  get leftMs(): number {
    return Math.max(0, this.#until - this.#clock.monotonic())
  }

  /** Continues the pauses of an earlier process: a restart must not lead to another flood. `isPaused`: the last run failed. */
  resume({ limitViolations, nextRunAt }: Pick<SyncStateRow, 'limitViolations' | 'nextRunAt'>, isPaused: boolean): void {
    if (limitViolations === 0) return
    this.#violations = limitViolations
    this.#lastAt = this.#clock.monotonic()
    if (isPaused) this.#until = this.#clock.monotonic() + (nextRunAt ?? 0) - this.#clock.now()
  }

  /** The server exceeded a limit. Begins the next pause and returns its length. */
  begin(): number {
    const nowMs = this.#clock.monotonic()
    if (nowMs - this.#lastAt > 2 * this.#backoff.capMs) this.#violations = 0
    this.#violations += 1
    this.#lastAt = nowMs
    const pauseMs = backoffMs(this.#violations, this.#backoff)
    this.#until = nowMs + pauseMs
    return pauseMs
  }

  /** The next violation leads to a longer pause all the same. */
  end(): void {
    this.#until = Number.NEGATIVE_INFINITY
  }

  reset(): void {
    this.#violations = 0
    this.end()
  }
}
