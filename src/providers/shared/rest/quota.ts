import type { Clock } from '../../../platform/time/clock.ts'

/** One mailbox's share of its provider's quota. */
export interface QuotaLimits {
  unitsPerMinute: number
  /** Units in one second. A twelfth of a minute's by default. */
  burst?: number
  /** Requests of this priority are counted, and do not wait: they are few, and the provider refuses what is too much. */
  unlimited?: Priority
}

/** Who waits for a request: an API caller, sync, or nobody. */
export type Priority = 'urgent' | 'normal' | 'background'

/** A refusal by the provider: what it says about the limit that was exceeded. */
export interface QuotaRefusal {
  /** Absent when the provider does not say which limit it was. */
  window?: 'second' | 'minute' | 'day'
  /** The limit of the minute, when the provider names it. */
  unitsPerMinute?: number
  /** The limit is that of all mailboxes together. */
  isOfProject?: boolean
}

interface Spent {
  at: number
  units: number
  priority: Priority
}

const MINUTE_MS = 60_000
/** A second of the provider, which may begin at another moment than ours. */
const SECOND_MS = 1100
/** Requests that follow each other so closely share one entry. */
const MERGE_MS = 50
const DEFAULT_BURST = 1 / 12
/**
 * The part of a minute's quota that each priority gets even if the others want everything. Each may spend what the others do not use beyond
 * their shares, so API calls find a quarter of the quota left in the middle of a first sync.
 */
const SHARES: Readonly<Record<Priority, number>> = { urgent: 0.25, normal: 0.25, background: 0.05 }
/** A request that costs more than this part of a minute's units starts as if it cost less. What it spent delays the next ones. */
const MOST = 0.5
const PRIORITIES: readonly Priority[] = ['urgent', 'normal', 'background']
/** The smallest limits that refusals lead to, as parts of a minute's units. */
const LEAST_UNITS = 0.1
const LEAST_BURST = 1 / 300
/** A refusal after this much of a minute's units is taken for one of the minute. */
const NEARLY = 0.8
/** After so long without a refusal, a limit that was lowered is raised by a tenth, to find out whether more is accepted. */
const RAISE_BURST_MS = 10_000
const RAISE_UNITS_MS = 60_000
const RAISE = 1.1

/**
 * The units of one mailbox: how many were spent in the last minute and in the last second, and how many more may be. Both limits begin
 * as configured, are lowered by refusals to what the provider accepted, and rise again slowly.
 */
export class QuotaBudget {
  readonly #clock: Clock
  readonly #burstMost: number
  readonly #burstLeast: number
  readonly #unlimited: Priority | undefined
  #unitsMost: number
  #units: number
  #burst: number
  /** In the order of time, of the last minute. */
  #spent: Spent[] = []
  #unitsChangedAt = 0
  #burstChangedAt = 0

  constructor({ unitsPerMinute, burst = unitsPerMinute * DEFAULT_BURST, unlimited }: QuotaLimits, clock: Clock) {
    this.#unlimited = unlimited
    this.#clock = clock
    this.#unitsMost = unitsPerMinute
    this.#units = unitsPerMinute
    this.#burstMost = burst
    this.#burstLeast = Math.min(burst, unitsPerMinute * LEAST_BURST)
    this.#burst = burst
  }

  /** How many requests of this cost may start together. */
  countAtOnce(cost: number): number {
    this.#raise()
    return Math.floor(Math.min(this.#burst, this.#units * MOST) / cost)
  }

  /** How long a request must wait until it may spend `cost`. Zero: not at all. */
  waitMs(cost: number, priority: Priority): number {
    if (priority === this.#unlimited) return 0
    this.#raise()
    this.#forget()
    const units = this.#units
    const inMinute = this.#untilMs(
      MINUTE_MS,
      (spent) => Math.min(cost, units * MOST) <= leftFor(spent, priority, units),
    )
    const inSecond = this.#untilMs(SECOND_MS, (spent) => Math.min(cost, this.#burst) <= this.#burst - total(spent))
    return Math.max(inMinute, inSecond)
  }

  spend(units: number, priority: Priority): void {
    const at = this.#clock.monotonic()
    const last = this.#spent.at(-1)
    if (last !== undefined && last.priority === priority && at - last.at < MERGE_MS) last.units += units
    else this.#spent.push({ at, units, priority })
  }

  /** The provider refused `units` that were counted as spent. */
  refuse(units: number, priority: Priority, { window, unitsPerMinute }: QuotaRefusal): void {
    this.#takeBack(units, priority)
    this.#forget()
    const accepted = total(sum(this.#spent))
    if (unitsPerMinute !== undefined) {
      this.#unitsMost = Math.min(this.#unitsMost, unitsPerMinute)
      this.#lowerUnits(unitsPerMinute)
    } else if (window === 'minute' || (window === undefined && accepted >= this.#units * NEARLY)) {
      this.#lowerUnits(accepted)
    } else if (window !== 'day') this.#lowerBurst()
  }

  #lowerUnits(units: number): void {
    this.#units = Math.min(this.#units, Math.max(units, this.#unitsMost * LEAST_UNITS))
    this.#unitsChangedAt = this.#clock.monotonic()
  }

  /** Something else uses the quota if the provider refuses even the smallest bursts. */
  #lowerBurst(): void {
    if (this.#burst <= this.#burstLeast) this.#lowerUnits(this.#units / 2)
    const now = this.#clock.monotonic()
    const accepted = total(sum(this.#spent.filter(({ at }) => at > now - SECOND_MS)))
    this.#burst = Math.max(this.#burstLeast, Math.min(this.#burst, accepted > 0 ? accepted : this.#burst / 2))
    this.#burstChangedAt = now
  }

  #raise(): void {
    const now = this.#clock.monotonic()
    if (this.#burst < this.#burstMost && now - this.#burstChangedAt >= RAISE_BURST_MS) {
      this.#burst = Math.min(this.#burstMost, this.#burst * RAISE)
      this.#burstChangedAt = now
    }
    if (this.#units < this.#unitsMost && now - this.#unitsChangedAt >= RAISE_UNITS_MS) {
      this.#units = Math.min(this.#unitsMost, this.#units * RAISE)
      this.#unitsChangedAt = now
    }
  }

  #forget(): void {
    const since = this.#clock.monotonic() - MINUTE_MS - MERGE_MS
    const first = this.#spent.findIndex(({ at }) => at > since)
    if (first !== 0) this.#spent.splice(0, first === -1 ? this.#spent.length : first)
  }

  #takeBack(units: number, priority: Priority): void {
    let left = units
    for (const entry of [...this.#spent].reverse()) {
      if (entry.priority !== priority) continue
      const taken = Math.min(left, entry.units)
      entry.units -= taken
      left -= taken
      if (left <= 0) return
    }
  }

  /** How long until enough entries have left a window. */
  #untilMs(windowMs: number, isEnough: (spent: Record<Priority, number>) => boolean): number {
    const now = this.#clock.monotonic()
    const inside = this.#spent.filter(({ at }) => at > now - windowMs - MERGE_MS)
    const spent = sum(inside)
    let waitMs = 0
    for (const { at, units, priority } of inside) {
      if (isEnough(spent)) return waitMs
      spent[priority] -= units
      waitMs = at + windowMs + MERGE_MS - now
    }
    return waitMs
  }
}

/** Units of a minute that a priority may still spend: at least half of them when nothing was spent. */
function leftFor(spent: Record<Priority, number>, priority: Priority, units: number): number {
  const others = PRIORITIES.filter((other) => other !== priority)
  const kept = others.reduce((held, other) => held + Math.max(0, units * SHARES[other] - spent[other]), 0)
  return units - kept - total(spent)
}

function sum(entries: readonly Spent[]): Record<Priority, number> {
  const spent = { urgent: 0, normal: 0, background: 0 }
  for (const { units, priority } of entries) spent[priority] += units
  return spent
}

function total({ urgent, normal, background }: Record<Priority, number>): number {
  return urgent + normal + background
}
