/** One request, or one part of a batch. */
export interface LimitedCall {
  /** The mailbox, if the request has one. */
  user: string | null
  /** Method and path pattern. */
  endpoint: string
  bytes: number
}

/** A limit that a vendor documents: so many units within so many milliseconds, for each key. */
export interface PublishedLimit {
  name: string
  most: number
  perMs: number
  /** Zero: the limit does not concern this request. */
  units(call: LimitedCall): number
  /** Requests with the same key share the limit. */
  key(call: LimitedCall): string
}

interface Window {
  spent: { at: number; units: number }[]
  total: number
}

/** Counts requests in sliding windows, and names the limit that one exceeds. A refused request spends nothing. */
export class Limits {
  #limits: readonly PublishedLimit[] = []
  readonly #windows = new Map<string, Window>()
  readonly #now: () => number
  /** The names of the limits that were exceeded, once for each refusal. */
  readonly refused: string[] = []

  /** `now` in milliseconds, monotonic. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Enforces these limits from now on. */
  enforce(limits: readonly PublishedLimit[]): void {
    this.#limits = limits
  }

  /** The limit that the request exceeds. */
  spend(call: LimitedCall): PublishedLimit | undefined {
    const concerned = this.#limits.flatMap((limit) => {
      const units = limit.units(call)
      return units > 0 ? [{ limit, units, window: this.#window(limit, call) }] : []
    })
    const exceeded = concerned.find(({ limit, units, window }) => window.total + units > limit.most)?.limit
    if (exceeded !== undefined) this.refused.push(exceeded.name)
    else for (const { units, window } of concerned) this.#add(window, units)
    return exceeded
  }

  #add(window: Window, units: number): void {
    window.spent.push({ at: this.#now(), units })
    window.total += units
  }

  #window(limit: PublishedLimit, call: LimitedCall): Window {
    const key = `${limit.name} ${limit.key(call)}`
    const window = this.#windows.get(key) ?? { spent: [], total: 0 }
    this.#windows.set(key, window)
    const since = this.#now() - limit.perMs
    const kept = window.spent.findIndex(({ at }) => at > since)
    for (const { units } of window.spent.splice(0, kept === -1 ? window.spent.length : kept)) window.total -= units
    return window
  }
}
