import type { Clock } from '../../lib/clock.ts'
import { ProviderError } from '../contract/index.ts'

/** How a mailbox may be used. */
export interface Pace {
  /** Requests under way at once. */
  concurrency: number
  /** Of the provider's quota; absent where it counts only requests under way. `burst` may be spent at once. */
  quota?: { perSecond: number; burst: number }
}

interface Entry {
  cost: number
  urgent: boolean
  doing: string
  /** Longer is not waited. */
  waitMs: number
  signal: AbortSignal
}

const WAITING_LIMIT = 500

/**
 * The requests of one mailbox wait here: in order, urgent ones first, so many at once, and no faster than its quota allows. Urgent
 * ones are charged but do not wait for the quota: they are few and small beside what synchronisation uses.
 */
export class Gate {
  readonly #pace: Pace
  readonly #clock: Clock
  readonly #waiting: { entry: Entry; enter: () => void }[] = []
  #running = 0
  #units: number
  #refilledAt: number
  #closedUntil = 0
  #timer: NodeJS.Timeout | undefined

  constructor(pace: Pace, clock: Clock) {
    this.#pace = pace
    this.#clock = clock
    this.#units = pace.quota?.burst ?? 0
    this.#refilledAt = clock.monotonic()
  }

  /** Answers what is to be called when the request is over. Rejects with `rate_limited`, or the signal's reason. */
  async enter(entry: Entry): Promise<() => void> {
    entry.signal.throwIfAborted()
    const closedMs = this.#closedUntil - this.#clock.monotonic()
    if (closedMs > entry.waitMs || this.#waiting.length >= WAITING_LIMIT) throw busy(entry.doing, closedMs)
    await new Promise<void>((resolve, reject) => {
      const leave = (reason: unknown) => {
        settle()
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1)
        reject(reason)
        // Whoever stood behind it may need less; behind the last one no timer is left.
        this.#admit()
      }
      const aborted = () => leave(entry.signal.reason)
      const timer = setTimeout(
        () => leave(busy(entry.doing, this.#closedUntil - this.#clock.monotonic())),
        entry.waitMs,
      )
      const settle = () => {
        clearTimeout(timer)
        entry.signal.removeEventListener('abort', aborted)
      }
      const enter = () => {
        settle()
        resolve()
      }
      const waiter = { entry, enter }
      entry.signal.addEventListener('abort', aborted, { once: true })
      const behind = entry.urgent ? this.#waiting.findIndex((other) => !other.entry.urgent) : -1
      this.#waiting.splice(behind === -1 ? this.#waiting.length : behind, 0, waiter)
      this.#admit()
    })
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      this.#running -= 1
      this.#admit()
    }
  }

  /** The provider asked for a pause: nothing enters before it is over. */
  close(ms: number): void {
    this.#closedUntil = Math.max(this.#closedUntil, this.#clock.monotonic() + ms)
  }

  #admit(): void {
    clearTimeout(this.#timer)
    for (;;) {
      const next = this.#waiting[0]
      if (next === undefined || this.#running >= this.#pace.concurrency) return
      const waitMs = this.#waitMs(next.entry)
      if (waitMs > 0) {
        this.#timer = setTimeout(() => this.#admit(), Math.ceil(waitMs))
        return
      }
      this.#waiting.shift()
      this.#units -= next.entry.cost
      this.#running += 1
      next.enter()
    }
  }

  #waitMs({ cost, urgent }: Entry): number {
    const nowMs = this.#clock.monotonic()
    const closedMs = this.#closedUntil - nowMs
    if (closedMs > 0 || this.#pace.quota === undefined) return closedMs
    const { perSecond, burst } = this.#pace.quota
    this.#units = Math.min(burst, this.#units + ((nowMs - this.#refilledAt) / 1000) * perSecond)
    this.#refilledAt = nowMs
    return urgent ? 0 : ((Math.min(cost, burst) - this.#units) / perSecond) * 1000
  }
}

function busy(doing: string, ms: number): ProviderError {
  return new ProviderError('rate_limited', `${doing}: the provider has asked for a pause, or too much waits already`, {
    ...(ms > 0 && { retryAfterMs: Math.ceil(ms) }),
  })
}
