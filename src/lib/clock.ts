/** The only file that reads the machine's time; everything else receives a clock. */
export interface Clock {
  /** Wall time in milliseconds since 1970. May step backwards when the machine's time is corrected. */
  now(): number
  /** Milliseconds since an arbitrary start; never steps. For measuring durations. */
  monotonic(): number
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
}

/** A clock that changes only through `advance`; for tests. */
export function fixedClock(startMs: number): Clock & { advance(ms: number): void } {
  let nowMs = startMs
  return {
    now: () => nowMs,
    monotonic: () => nowMs,
    advance(ms) {
      nowMs += ms
    },
  }
}
