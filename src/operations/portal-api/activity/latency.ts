import type { ActivityName } from './tables.ts'

/**
 * Latencies are counted in classes, each a quarter longer than the one before, so that a percentile of any period is a sum of rows and
 * is right to about 12 %. Class 0 ends at 1 ms.
 */
const GROWTH = 1.25
/** Two days. Whatever took longer is in the last class. */
const MAX_CLASS = 85
const PREFIX = 'latency.'

export function latencyName(ms: number): ActivityName {
  const index = Math.ceil(Math.log(Math.max(1, ms)) / Math.log(GROWTH))
  return `latency.${Math.min(index, MAX_CLASS)}`
}

/** The latency in ms that this share of the deliveries did not exceed. Undefined when nothing was delivered. */
export function latencyPercentile(amounts: ReadonlyMap<string, number>, share: number): number | undefined {
  const classes = [...amounts]
    .filter(([name]) => name.startsWith(PREFIX))
    .map(([name, amount]) => ({ index: Number(name.slice(PREFIX.length)), amount }))
    .sort((left, right) => left.index - right.index)
  const total = classes.reduce((sum, { amount }) => sum + amount, 0)
  let counted = 0
  for (const { index, amount } of classes) {
    counted += amount
    if (counted >= share * total) return Math.round(GROWTH ** index)
  }
  return undefined
}
