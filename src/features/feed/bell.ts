/** Wakes whoever waits for something to happen. A ring that comes before the waiting is not lost: see `after`. */
export class Bell {
  #rings = 0
  #waiting = new Set<() => void>()

  get rings(): number {
    return this.#rings
  }

  ring(): void {
    this.#rings += 1
    for (const wake of [...this.#waiting]) wake()
  }

  /** Resolves at once when it rang since `rings` was read; else at the next ring, after `ms`, or when the signal fires. */
  after(rings: number, ms: number, signal: AbortSignal): Promise<void> {
    if (this.#rings !== rings || signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake)
        clearTimeout(timer)
        signal.removeEventListener('abort', wake)
        resolve()
      }
      const timer = setTimeout(wake, ms)
      signal.addEventListener('abort', wake)
      this.#waiting.add(wake)
    })
  }
}
