import { type Backoff, backoffMs } from '../../../platform/concurrency/retry.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import { ProviderError } from '../../contract/index.ts'
import type { ProjectBudget } from './project-budget.ts'
import { type Priority, QuotaBudget, type QuotaLimits, type QuotaRefusal } from './quota.ts'

/** How fast one mailbox may be used. */
export interface RateLimit {
  /** Requests in flight. */
  concurrency: number
  /** The provider's quota, if it has one. */
  quota?: QuotaLimits
}

interface Entry {
  cost: number
  /** How many requests in flight it counts as. 1 by default. */
  slots?: number
  /** Its response may take as long as its reader. */
  isStream?: boolean
  priority: Priority
  doing: string
  /** Rejects when its turn does not come within this time. */
  waitMs: number
  signal: AbortSignal
}

interface Waiter {
  entry: Entry
  start(slots: number): void
}

const MAX_WAITING = 500
/** A mailbox without a stated pause rests after refusals in a row, requests of API callers excepted. */
const REST: Backoff = { baseMs: 1000, capMs: 30_000 }
const RANKS: Readonly<Record<Priority, number>> = { urgent: 0, normal: 1, background: 2 }

/**
 * Queues the requests of one mailbox: first in, first out within a priority. It limits the requests in flight and what they spend of the
 * quota. Urgent requests start first, and have a share of the quota; background ones start when no other waits, and leave a slot free.
 */
export class RateLimiter {
  readonly #concurrency: number
  readonly #quota: QuotaBudget | undefined
  readonly #project: ProjectBudget | undefined
  readonly #clock: Clock
  readonly #waiting: Waiter[] = []
  /** Slots in use, those of streams included. */
  #running = 0
  #streams = 0
  #pausedUntil = Number.NEGATIVE_INFINITY
  #restsUntil = Number.NEGATIVE_INFINITY
  #refusals = 0
  #timer: NodeJS.Timeout | undefined

  /** `project` is shared with the other mailboxes of the project. */
  constructor({ concurrency, quota }: RateLimit, clock: Clock, project?: ProjectBudget) {
    this.#concurrency = concurrency
    this.#quota = quota && new QuotaBudget(quota, clock)
    this.#project = project
    this.#clock = clock
  }

  /** Resolves to a function to call when the request has ended. Rejects with `rate_limited`, or the signal's reason. */
  async acquire(entry: Entry): Promise<() => void> {
    entry.signal.throwIfAborted()
    const leastMs = this.#waitMs(entry)
    if (leastMs > entry.waitMs || this.#waiting.length >= MAX_WAITING) throw limitError(entry.doing, leastMs)
    const slots = await this.#turn(entry)
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
    this.#restsUntil = Number.NEGATIVE_INFINITY
    this.#startNext()
  }

  /** The provider refused `units` of a request for its quota, which then gets smaller. */
  refused(units: number, priority: Priority, refusal: QuotaRefusal): void {
    if (refusal.isOfProject && this.#project !== undefined) this.#project.refuse(refusal)
    else if (this.#quota !== undefined) this.#quota.refuse(units, priority, refusal)
    else return
    this.#refusals += 1
    this.#restsUntil = this.#clock.monotonic() + backoffMs(this.#refusals, REST)
  }

  /** The provider executed a request. */
  accepted(): void {
    this.#refusals = 0
  }

  /** How many items of this cost one request should have: what may be spent at once, at most `most`. */
  batchSize(cost: number, most: number): number {
    if (this.#quota === undefined) return most
    return Math.max(1, Math.min(most, this.#quota.countAtOnce(cost)))
  }

  /** Resolves to the slots that the request takes. */
  #turn(entry: Entry): Promise<number> {
    return new Promise<number>((resolve, reject) => {
      const giveUp = (reason: unknown) => {
        stopWaiting()
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1)
        reject(reason)
        // The next request may need fewer units; if none is left, this clears the timer.
        this.#startNext()
      }
      const onAbort = () => giveUp(entry.signal.reason)
      const timer = setTimeout(() => giveUp(limitError(entry.doing, this.#waitMs(entry))), entry.waitMs)
      const stopWaiting = () => {
        clearTimeout(timer)
        entry.signal.removeEventListener('abort', onAbort)
      }
      const waiter: Waiter = {
        entry,
        start: (slots) => {
          stopWaiting()
          resolve(slots)
        },
      }
      entry.signal.addEventListener('abort', onAbort, { once: true })
      const index = this.#waiting.findIndex((other) => RANKS[other.entry.priority] > RANKS[entry.priority])
      this.#waiting.splice(index === -1 ? this.#waiting.length : index, 0, waiter)
      this.#startNext()
    })
  }

  #startNext(): void {
    clearTimeout(this.#timer)
    for (;;) {
      const candidates = this.#candidates().map((waiter) => ({ waiter, waitMs: this.#waitMs(waiter.entry) }))
      const next = candidates.find(({ waitMs }) => waitMs <= 0)?.waiter
      if (next === undefined) {
        const waitMs = Math.min(...candidates.map((candidate) => candidate.waitMs))
        if (candidates.length > 0) this.#timer = setTimeout(() => this.#startNext(), Math.ceil(waitMs))
        return
      }
      const { cost, priority, isStream } = next.entry
      const slots = this.#slots(next.entry)
      this.#waiting.splice(this.#waiting.indexOf(next), 1)
      this.#quota?.spend(cost, priority)
      this.#project?.spend(cost)
      this.#running += slots
      if (isStream) this.#streams += 1
      next.start(slots)
    }
  }

  /**
   * Requests that may start when the quota allows it: the first, and the first normal one behind an urgent one, which need not wait until
   * the share of the other is free again. None overtakes one that waits for slots.
   */
  #candidates(): Waiter[] {
    const [first] = this.#waiting
    if (first === undefined || !this.#fits(first.entry)) return []
    const normal = this.#waiting.find(({ entry }) => entry.priority === 'normal')
    return normal === undefined || normal === first || !this.#fits(normal.entry) ? [first] : [first, normal]
  }

  /** A request of several slots takes all that streams leave: it cannot wait until every reader is done. */
  #slots({ slots = 1 }: Entry): number {
    return Math.max(1, Math.min(slots, this.#concurrency - this.#streams))
  }

  /** A background request leaves a slot, or starts alone. */
  #fits(entry: Entry): boolean {
    const after = this.#running + this.#slots(entry)
    const isBackground = entry.priority === 'background'
    return after <= this.#concurrency - (isBackground ? 1 : 0) || (this.#running === 0 && after <= this.#concurrency)
  }

  #waitMs({ cost, priority }: Entry): number {
    const nowMs = this.#clock.monotonic()
    const pauseMs = this.#pausedUntil - nowMs
    const restMs = priority === 'urgent' ? 0 : this.#restsUntil - nowMs
    const quotaMs = this.#quota?.waitMs(cost, priority) ?? 0
    const projectMs = this.#project?.waitMs(cost, priority) ?? 0
    return Math.max(pauseMs, restMs, quotaMs, projectMs)
  }
}

function limitError(doing: string, waitMs: number): ProviderError {
  const why = 'the provider asked for a pause, its quota is used up, or too many requests are waiting'
  const retry = waitMs > 0 ? { retryAfterMs: Math.ceil(waitMs) } : {}
  return new ProviderError('rate_limited', `${doing}: ${why}`, retry)
}
