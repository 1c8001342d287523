/** How many messages were processed at a time. */
export type RateSample = readonly [atMs: number, processed: number]

const WINDOW_MS = 60_000
const GAP_MS = 5000
/** A longer pause between two samples does not count as work. */
const PAUSE_MS = 120_000

/** Adds a sample every few seconds and drops those that are older than a minute. */
export function withSample(samples: readonly RateSample[], [atMs, processed]: RateSample): RateSample[] {
  const recent = samples.filter(([at]) => atMs - at <= WINDOW_MS)
  const latest = samples.at(-1)
  if (latest !== undefined && atMs - latest[0] > PAUSE_MS) return [[atMs, processed]]
  // The last one is always the current state.
  const kept = recent.filter(([at], index) => index === 0 || at - (recent[index - 1]?.[0] ?? 0) >= GAP_MS)
  return [...kept, [atMs, processed]]
}

/** Messages a minute; null before two samples. */
export function measureRate(samples: readonly RateSample[]): number | null {
  const [first, last] = [samples[0], samples.at(-1)]
  if (first === undefined || last === undefined || last[0] <= first[0]) return null
  return Math.round(((last[1] - first[1]) / (last[0] - first[0])) * 600_000) / 10
}
