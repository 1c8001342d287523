/** Timers of the process, or of a simulation. */
export interface Timers {
  /** Calls `run` once, not before `delayMs` have passed. Returns a function that cancels it. */
  start(run: () => void, delayMs: number): () => void
}

export const systemTimers: Timers = {
  start(run, delayMs) {
    const timer = setTimeout(run, delayMs)
    return () => clearTimeout(timer)
  },
}
