/** Resolves when timers, sockets and other callbacks have had their turn. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

/** How long a loop in the background may hold a turn of the event loop. */
export const TURN_MS = 4

/** Items between two reads of the clock. */
const ITEMS_PER_CHECK = 100

let heldSinceMs: number | undefined

/**
 * A loop whose awaits all resolve as microtasks never ends its turn of the event loop: timers, sockets and signals wait until
 * the loop is done. Such a loop awaits this once per step. Undefined until the turn has lasted `maxMs` since the first call
 * by any loop; then a promise that resolves in the next turn.
 */
export function yieldIfHeld(maxMs: number): Promise<void> | undefined {
  const nowMs = performance.now()
  if (heldSinceMs === undefined) {
    heldSinceMs = nowMs
    setImmediate(() => {
      heldSinceMs = undefined
    })
    return undefined
  }
  return nowMs - heldSinceMs < maxMs ? undefined : nextTurn()
}

/** Calls `each` with every item, over as many turns as that takes. Meanwhile, the items of a Map or a Set may change. */
export async function eachInTurns<Item>(items: Iterable<Item>, each: (item: Item) => void): Promise<void> {
  let count = 0
  for (const item of items) {
    each(item)
    count += 1
    if (count % ITEMS_PER_CHECK === 0) await yieldIfHeld(TURN_MS)
  }
}

/** Passes on together, at its end, what is added in one turn of the event loop. */
export function perTurn<Item>(pass: (items: Item[]) => void): (item: Item) => void {
  let gathered: Item[] = []
  return (item) => {
    if (gathered.push(item) > 1) return
    setImmediate(() => {
      const items = gathered
      gathered = []
      pass(items)
    })
  }
}
