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

/**
 * How far another clock is ahead of ours, at least; negative when it is behind. `theirMs`, rounded down to `resolutionMs`, was read
 * between `startedMs` and `endedMs` of our clock, so a slow response does not count as a difference.
 */
export function clockAhead(theirMs: number, startedMs: number, endedMs: number, resolutionMs = 0): number {
  const least = theirMs - endedMs
  const most = theirMs + resolutionMs - startedMs
  return Math.round(least > 0 ? least : Math.min(most, 0))
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
