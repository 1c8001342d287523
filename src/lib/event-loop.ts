/** Resolves when timers, sockets and other callbacks have had their turn. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

/** How long a loop in the background may hold a turn of the event loop. */
export const TURN_MS = 4

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
