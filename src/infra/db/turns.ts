/** One at a time, in the order of asking. Waiting has an end, so that a body that never ends is told instead of felt. */
export class Turns {
  readonly #complaint: string
  readonly #waitMs: number
  readonly #waiting: (() => void)[] = []
  #taken = false

  constructor(complaint: string, waitMs: number) {
    this.#complaint = complaint
    this.#waitMs = waitMs
  }

  /** Resolves when it is the caller's turn, who must `give` it back. Rejects after the wait; then nothing is to be given back. */
  take(): Promise<void> {
    if (!this.#taken) {
      this.#taken = true
      return Promise.resolve()
    }
    return new Promise((resolve, reject) => {
      const go = () => {
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(go), 1)
        reject(new Error(this.#complaint))
      }, this.#waitMs)
      this.#waiting.push(go)
    })
  }

  give(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#taken = false
    else next()
  }
}
