import type { Clock } from '../../../platform/time/clock.ts'
import type { Priority, QuotaRefusal } from './quota.ts'

interface Slice {
  at: number
  units: number
}

/** A limit that mailboxes share: so many units in each time of this length. */
export interface SharedLimit {
  units: number
  perMs: number
}

export const MINUTE_MS = 60_000
/** Requests of so many milliseconds are counted together, so that thousands of mailboxes cost no more than a few. */
const SLICE_MS = 100
/** The part of the limit up to which each priority may fill it. API callers are few, and do not wait. */
const PARTS: Readonly<Record<Priority, number>> = { urgent: Infinity, normal: 0.9, background: 0.8 }
/** The smallest limit that refusals lead to, as a part of the configured one. */
const LEAST = 0.1
/** After so long without a refusal, a limit that was lowered is raised by a tenth. */
const RAISE_MS = 60_000
const RAISE = 1.1

/** The units that all mailboxes of one project of the provider share, as far as this process uses them. */
export class ProjectBudget {
  readonly #clock: Clock
  readonly #most: number
  readonly #perMs: number
  readonly #windowMs: number
  #units: number
  /** In the order of time, of the last window. */
  readonly #slices: Slice[] = []
  #spent = 0
  #changedAt = 0

  constructor({ units, perMs }: SharedLimit, clock: Clock) {
    this.#clock = clock
    this.#most = units
    this.#units = units
    this.#perMs = perMs
    this.#windowMs = perMs + SLICE_MS
  }

  /** How long a request must wait until it may spend `cost`. Zero: not at all. */
  waitMs(cost: number, priority: Priority): number {
    this.#raise()
    this.#forget()
    const limit = this.#units * PARTS[priority]
    let excess = this.#spent + Math.min(cost, limit) - limit
    if (excess <= 0) return 0
    for (const { at, units } of this.#slices) {
      excess -= units
      if (excess <= 0) return at + this.#windowMs - this.#clock.monotonic()
    }
    return this.#windowMs
  }

  spend(units: number): void {
    const at = this.#clock.monotonic()
    const last = this.#slices.at(-1)
    if (last !== undefined && at - last.at < SLICE_MS) last.units += units
    else this.#slices.push({ at, units })
    this.#spent += units
  }

  /** The provider refused a request because the project's limit was exceeded, perhaps by another process. */
  refuse({ unitsPerMinute }: QuotaRefusal): void {
    this.#forget()
    const named = unitsPerMinute === undefined ? this.#spent : (unitsPerMinute * this.#perMs) / MINUTE_MS
    this.#units = Math.max(this.#most * LEAST, Math.min(this.#units, named))
    this.#changedAt = this.#clock.monotonic()
  }

  #raise(): void {
    const now = this.#clock.monotonic()
    if (this.#units >= this.#most || now - this.#changedAt < RAISE_MS) return
    this.#units = Math.min(this.#most, this.#units * RAISE)
    this.#changedAt = now
  }

  #forget(): void {
    const since = this.#clock.monotonic() - this.#windowMs
    for (let first = this.#slices[0]; first !== undefined && first.at <= since; first = this.#slices[0]) {
      this.#spent -= first.units
      this.#slices.shift()
    }
  }
}
