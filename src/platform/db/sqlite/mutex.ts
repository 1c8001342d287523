/** A FIFO lock. A wait has a time limit, so that a holder that never releases causes an error instead of a hang. */
export class Mutex {
  readonly #timeoutMessage: string
  readonly #waitMs: number
  readonly #waiting: (() => void)[] = []
  #isHeld = false

  constructor(timeoutMessage: string, waitMs: number) {
    this.#timeoutMessage = timeoutMessage
    this.#waitMs = waitMs
  }

  /** Resolves when the caller holds the lock; the caller must `release` it. Rejects after `waitMs` without the lock. */
  acquire(): Promise<void> {
    if (!this.#isHeld) {
      this.#isHeld = true
      return Promise.resolve()
    }
    return new Promise((resolve, reject) => {
      const proceed = () => {
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(proceed), 1)
        reject(new Error(this.#timeoutMessage))
      }, this.#waitMs)
      this.#waiting.push(proceed)
    })
  }

  release(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#isHeld = false
    else next()
  }
}
