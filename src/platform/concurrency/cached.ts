import type { Clock } from '../time/clock.ts'

/** Returns the same promise for `ms`, so that many readers cause one load. */
export function cached<T>(clock: Clock, ms: number, load: () => Promise<T>): () => Promise<T> {
  let last: { loadedMs: number; result: Promise<T> } | undefined
  return () => {
    const nowMs = clock.monotonic()
    if (last === undefined || nowMs - last.loadedMs >= ms) last = { loadedMs: nowMs, result: load() }
    return last.result
  }
}
