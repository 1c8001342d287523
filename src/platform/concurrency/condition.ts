/** A condition variable whose signals are counted, so that a signal before `wait` is not lost. */
export class Condition {
  #count = 0
  #waiting = new Set<() => void>()

  get count(): number {
    return this.#count
  }

  signal(): void {
    this.#count += 1
    for (const wake of [...this.#waiting]) wake()
  }

  /** Resolves when there was a signal since `count` was `seen`, after `ms`, or when `abort` fires. Leaves no timer. */
  wait(seen: number, ms: number, abort: AbortSignal): Promise<void> {
    if (this.#count !== seen || abort.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake)
        clearTimeout(timer)
        abort.removeEventListener('abort', wake)
        resolve()
      }
      const timer = setTimeout(wake, ms)
      abort.addEventListener('abort', wake)
      this.#waiting.add(wake)
    })
  }
}
