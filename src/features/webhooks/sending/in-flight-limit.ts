/** How much event data the process holds in claimed deliveries; while it is full, turns claim one delivery at a time. */
export interface Stock {
  readonly isFull: boolean
  /** Characters taken in, or given back when negative. */
  add(length: number): void
}

const FULL_AT = 32 * 1024 * 1024

export function stock(fullAt = FULL_AT): Stock {
  let held = 0
  return {
    get isFull() {
      return held >= fullAt
    },
    add(length) {
      held += length
    },
  }
}
