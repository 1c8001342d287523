import { LRUCache } from 'lru-cache'
import type { Clock } from '../../../lib/clock.ts'
import { type Backoff, backoffMs } from '../../../lib/retry.ts'

const MAX_CALENDARS = 10_000

/** Calendars that cannot be read at the moment. Each waits by itself, so that it stops no other one of its account. */
export class FailingCalendars {
  readonly #clock: Clock
  readonly #backoff: Backoff
  readonly #waiting = new LRUCache<string, { failures: number; untilMs: number }>({ max: MAX_CALENDARS })

  constructor(clock: Clock, backoff: Backoff) {
    this.#clock = clock
    this.#backoff = backoff
  }

  isWaiting(calendarId: string): boolean {
    return (this.#waiting.get(calendarId)?.untilMs ?? 0) > this.#clock.monotonic()
  }

  /** Returns after how many failures it waits how long. */
  add(calendarId: string, retryAfterMs = 0): { failures: number; pauseMs: number } {
    const failures = (this.#waiting.get(calendarId)?.failures ?? 0) + 1
    const pauseMs = Math.max(retryAfterMs, backoffMs(failures, this.#backoff))
    this.#waiting.set(calendarId, { failures, untilMs: this.#clock.monotonic() + pauseMs })
    return { failures, pauseMs }
  }

  delete(calendarId: string): void {
    this.#waiting.delete(calendarId)
  }
}
