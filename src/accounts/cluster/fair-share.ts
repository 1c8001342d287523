/** The distribution of accounts, as one instance reads it. */
export interface Shares {
  /** The id of the instance that computes its share. */
  me: string
  /** The number of accounts of each living instance, `me` included. */
  owned: ReadonlyMap<string, number>
  /** Number of accounts without a living owner. */
  free: number
}

/**
 * Computes how many accounts an instance takes or gives back. Every instance ends with total ÷ instances, rounded down or
 * up; then no account moves. An instance takes accounts up to the lower share, and one more only if the others still reach
 * theirs. It gives back those above the upper share, and one more only if another instance could not reach the lower
 * share otherwise.
 */
export function fairMove({ me, owned, free }: Shares): { take: number; giveBack: number } {
  const total = free + sum([...owned.values()])
  const lower = Math.floor(total / owned.size)
  const upper = Math.ceil(total / owned.size)
  const mine = owned.get(me) ?? 0
  if (mine > upper) return { take: 0, giveBack: mine - upper }
  const missing = sum([...owned.values()].map((count) => Math.max(0, lower - count)))
  if (mine === upper && upper > lower) {
    const coming = free + sum([...owned.values()].map((count) => Math.max(0, count - upper)))
    const givers = [...owned].filter(([, count]) => count >= upper).map(([id]) => id)
    // Every instance computes the same order, so only as many give back as are needed.
    if (givers.sort().indexOf(me) < missing - coming) return { take: 0, giveBack: 1 }
  }
  const oneMore = mine < upper && upper > lower && free > missing ? 1 : 0
  return { take: Math.min(free, Math.max(0, lower - mine) + oneMore), giveBack: 0 }
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0)
}
