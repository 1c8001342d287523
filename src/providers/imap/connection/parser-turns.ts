/** Received data that waits to be parsed. */
export interface Parsing {
  /** Hands the next slice to the parser. Returns the estimated time to parse it, in microseconds. */
  step(): number
  readonly hasMore: boolean
}

/** Parsing time per turn of the event loop, in microseconds. */
const TURN_US = 2000

/**
 * Shares the event loop among the connections that receive data. imapflow parses everything that has arrived without ending the turn,
 * and forty servers that send without a pause would together hold it for seconds. Each turn therefore parses some slices, one
 * connection after the other; the rest waits for the next turn.
 */
export class ParserTurns {
  /** In the order of their turns. */
  readonly #waiting = new Set<Parsing>()
  #usedUs = 0
  #isScheduled = false

  /** Begins at once while the turn has time left. */
  add(parsing: Parsing): void {
    this.#waiting.add(parsing)
    this.#run()
  }

  remove(parsing: Parsing): void {
    this.#waiting.delete(parsing)
  }

  #run(): void {
    while (this.#usedUs < TURN_US) {
      const [next] = this.#waiting
      if (next === undefined) break
      this.#waiting.delete(next)
      this.#usedUs += next.step()
      if (next.hasMore) this.#waiting.add(next)
    }
    if (this.#usedUs === 0 || this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#usedUs = 0
      this.#run()
    })
  }
}
