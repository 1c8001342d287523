import type { Clock } from '../../../platform/time/clock.ts'

export interface LoginPaceLimits {
  /** How many logins a host accepts at once after a time without any. */
  loginBurst: number
  loginsPerSecond: number
}

/**
 * Spreads the logins of one process to one mail host, because an instance that takes over a thousand mailboxes would look like an
 * attack. Each login gets the next free moment; up to `loginBurst` moments that passed without a login may be used at once.
 */
export class LoginPace {
  readonly #clock: Clock
  readonly #intervalMs: number
  readonly #burstMs: number
  /** By host, the first moment that is free. Monotonic. */
  readonly #free = new Map<string, number>()

  constructor(clock: Clock, { loginBurst, loginsPerSecond }: LoginPaceLimits) {
    this.#clock = clock
    this.#intervalMs = 1000 / loginsPerSecond
    this.#burstMs = (loginBurst - 1) * this.#intervalMs
  }

  /** Reserves a login and returns when it may begin, in monotonic time. */
  reserve(host: string): number {
    const nowMs = this.#clock.monotonic()
    const momentMs = Math.max(this.#free.get(host) ?? Number.NEGATIVE_INFINITY, nowMs - this.#burstMs)
    this.#free.set(host, momentMs + this.#intervalMs)
    return Math.max(nowMs, momentMs)
  }

  /** Forgets hosts whose next login may begin at once, so that the map does not grow. */
  sweep(): void {
    const longAgoMs = this.#clock.monotonic() - this.#burstMs
    for (const [host, freeMs] of this.#free) if (freeMs <= longAgoMs) this.#free.delete(host)
  }
}
