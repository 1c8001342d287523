/** Resolves when timers, sockets and other callbacks have had their turn. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

/**
 * Measures how long the current turn of the event loop lasts. A loop whose awaits all resolve as microtasks never ends its
 * turn: timers, sockets and signals wait until the loop is done. Such a loop calls `yieldIfHeld` once per step.
 */
export class EventLoopShare {
  readonly #maxMs: number
  #heldSinceMs: number | undefined
  readonly #newTurn = () => {
    this.#heldSinceMs = undefined
  }

  constructor(maxMs: number) {
    this.#maxMs = maxMs
  }

  /** Undefined until the turn has lasted `maxMs` since its first call; then a promise that resolves in the next turn. */
  yieldIfHeld(): Promise<void> | undefined {
    const nowMs = performance.now()
    if (this.#heldSinceMs === undefined) {
      this.#heldSinceMs = nowMs
      setImmediate(this.#newTurn)
      return undefined
    }
    return nowMs - this.#heldSinceMs < this.#maxMs ? undefined : nextTurn()
  }
}
