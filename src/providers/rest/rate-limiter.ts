import type { Clock } from '../../lib/clock.ts'
import { ProviderError } from '../contract/index.ts'

/** How fast one mailbox may be used. */
export interface RateLimit {
  /** Requests in flight. */
  concurrency: number
  /** Units of the provider's quota, if it has one; `burst` units may be spent at once. */
  quota?: { perSecond: number; burst: number }
}

interface Entry {
  cost: number
  /** How many requests in flight it counts as. 1 by default. */
  slots?: number
  /** Its response may take as long as its reader. */
  isStream?: boolean
  urgent: boolean
  /** Goes last, and leaves a share of the quota and a slot to other requests. */
  background?: boolean
  doing: string
  /** Rejects when its turn does not come within this time. */
  waitMs: number
  signal: AbortSignal
}

const MAX_WAITING = 500
/** How much of the burst background requests leave to the others. */
const RESERVE = 0.5

/**
 * Queues the requests of one mailbox: first in, first out, urgent ones first, background ones last. It limits the requests in flight and the rate at which
 * they spend the quota. Urgent requests are charged but do not wait for the quota: they are few and small beside sync.
 */
export class RateLimiter {
  readonly #limit: RateLimit
  readonly #clock: Clock
  readonly #waiting: { entry: Entry; start: (slots: number) => void }[] = []
  /** Slots in use, those of streams included. */
  #running = 0
  #streams = 0
  #units: number
  #refilledAt: number
  #pausedUntil = Number.NEGATIVE_INFINITY
  #timer: NodeJS.Timeout | undefined

  constructor(limit: RateLimit, clock: Clock) {
    this.#limit = limit
    this.#clock = clock
    this.#units = limit.quota?.burst ?? 0
    this.#refilledAt = clock.monotonic()
  }

  /** Resolves to a function to call when the request has ended. Rejects with `rate_limited`, or the signal's reason. */
  async acquire(entry: Entry): Promise<() => void> {
    entry.signal.throwIfAborted()
    const pauseMs = this.#pausedUntil - this.#clock.monotonic()
    if (pauseMs > entry.waitMs || this.#waiting.length >= MAX_WAITING) throw limitError(entry.doing, pauseMs)
    const slots = await new Promise<number>((resolve, reject) => {
      const giveUp = (reason: unknown) => {
        stopWaiting()
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1)
        reject(reason)
        // The next request may need fewer units; if none is left, this clears the timer.
        this.#startNext()
      }
      const onAbort = () => giveUp(entry.signal.reason)
      const timer = setTimeout(
        () => giveUp(limitError(entry.doing, this.#pausedUntil - this.#clock.monotonic())),
        entry.waitMs,
      )
      const stopWaiting = () => {
        clearTimeout(timer)
        entry.signal.removeEventListener('abort', onAbort)
      }
      const start = (granted: number) => {
        stopWaiting()
        resolve(granted)
      }
      const waiter = { entry, start }
      entry.signal.addEventListener('abort', onAbort, { once: true })
      const index = this.#waiting.findIndex((other) => rank(other.entry) > rank(entry))
      this.#waiting.splice(index === -1 ? this.#waiting.length : index, 0, waiter)
      this.#startNext()
    })
    let isReleased = false
    return () => {
      if (isReleased) return
      isReleased = true
      this.#running -= slots
      if (entry.isStream) this.#streams -= 1
      this.#startNext()
    }
  }

  /** The provider asked for a pause: no request starts before it ends. */
  pause(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, this.#clock.monotonic() + ms)
  }

  /** Starts requests at once again, until the next pause. */
  endPause(): void {
    this.#pausedUntil = Number.NEGATIVE_INFINITY
    this.#startNext()
  }

  #startNext(): void {
    clearTimeout(this.#timer)
    for (;;) {
      const next = this.#waiting[0]
      if (next === undefined || !this.#fits(next.entry)) return
      const waitMs = this.#waitMs(next.entry)
      if (waitMs > 0) {
        this.#timer = setTimeout(() => this.#startNext(), Math.ceil(waitMs))
        return
      }
      this.#waiting.shift()
      const slots = this.#slots(next.entry)
      this.#units -= next.entry.cost
      this.#running += slots
      if (next.entry.isStream) this.#streams += 1
      next.start(slots)
    }
  }

  /** A request of several slots takes all that streams leave: it cannot wait until every reader is done. */
  #slots({ slots = 1 }: Entry): number {
    return Math.max(1, Math.min(slots, this.#limit.concurrency - this.#streams))
  }

  /** A background request leaves a slot, or starts alone. */
  #fits(entry: Entry): boolean {
    const { concurrency } = this.#limit
    const after = this.#running + this.#slots(entry)
    return after <= concurrency - (entry.background ? 1 : 0) || (this.#running === 0 && after <= concurrency)
  }

  #waitMs({ cost, urgent, background = false }: Entry): number {
    const nowMs = this.#clock.monotonic()
    const pauseMs = this.#pausedUntil - nowMs
    if (pauseMs > 0 || this.#limit.quota === undefined) return pauseMs
    const { perSecond, burst } = this.#limit.quota
    this.#units = Math.min(burst, this.#units + ((nowMs - this.#refilledAt) / 1000) * perSecond)
    this.#refilledAt = nowMs
    const needed = background ? Math.min(cost + burst * RESERVE, burst) : Math.min(cost, burst)
    return urgent ? 0 : ((needed - this.#units) / perSecond) * 1000
  }
}

/** Requests of a lower rank go first. */
function rank({ urgent, background = false }: Entry): number {
  if (urgent) return 0
  return background ? 2 : 1
}

function limitError(doing: string, pauseMs: number): ProviderError {
  return new ProviderError(
    'rate_limited',
    `${doing}: the provider asked for a pause, or too many requests are waiting`,
    {
      ...(pauseMs > 0 && { retryAfterMs: Math.ceil(pauseMs) }),
    },
  )
}
