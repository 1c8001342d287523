/** How much event data the process holds in claimed deliveries; while it is full, turns claim one delivery at a time. */
export interface InFlightLimit {
  readonly isFull: boolean
  /** Characters taken in, or given back when negative. */
  add(length: number): void
}

const FULL_AT = 32 * 1024 * 1024

export function inFlightLimit(fullAt = FULL_AT): InFlightLimit {
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
