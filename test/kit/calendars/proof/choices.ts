/** The random choices of a generator. */
export interface Choices {
  /** In [0, 1). */
  next(): number
  is(share: number): boolean
  /** Both ends included. */
  whole(from: number, to: number): number
  pick<T>(items: readonly T[]): T
  /** At most this many different ones, in order; at least one. */
  some<T>(items: readonly T[], most: number): T[]
}

export function openChoices(next: () => number): Choices {
  const whole = (from: number, to: number) => from + Math.floor(next() * (to - from + 1))
  return {
    next,
    is: (share) => next() < share,
    whole,
    pick: (items) => items[whole(0, items.length - 1)] as (typeof items)[number],
    some(items, most) {
      const count = whole(1, Math.min(most, items.length))
      const left = items.map((_, index) => index)
      const taken = Array.from({ length: count }, () => left.splice(whole(0, left.length - 1), 1)[0] ?? 0)
      return taken.sort((one, other) => one - other).map((index) => items[index] as (typeof items)[number])
    },
  }
}
