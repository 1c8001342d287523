/** Who owns how many accounts, as one instance sees it. */
export interface Shares {
  /** The instance that asks. */
  me: string
  /** Every living instance with the number of its accounts; `me` is among them. */
  owned: ReadonlyMap<string, number>
  /** Accounts that nobody living owns. */
  free: number
}

/**
 * How many accounts an instance should take or give back now. Everyone ends with the total divided by the number of
 * instances, rounded down or up, and then nothing moves: an instance takes up to the upper share, gives back what is above
 * it, and gives back one more only where another instance could not get its lower share otherwise.
 */
export function fairMove({ me, owned, free }: Shares): { take: number; giveBack: number } {
  const total = free + sum([...owned.values()])
  const lower = Math.floor(total / owned.size)
  const upper = Math.ceil(total / owned.size)
  const mine = owned.get(me) ?? 0
  if (mine > upper) return { take: 0, giveBack: mine - upper }
  if (mine === upper && upper > lower) {
    const missing = sum([...owned.values()].map((count) => Math.max(0, lower - count)))
    const coming = free + sum([...owned.values()].map((count) => Math.max(0, count - upper)))
    const givers = [...owned].filter(([, count]) => count >= upper).map(([id]) => id)
    // Every instance computes the same order, so only as many give back as are needed.
    if (givers.sort().indexOf(me) < missing - coming) return { take: 0, giveBack: 1 }
  }
  return { take: Math.min(free, upper - mine), giveBack: 0 }
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0)
}
