import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Clock } from '../time/clock.ts'

/** How late the event loop was, in the last one to two minutes. */
interface EventLoopDelay {
  meanMs: number
  p99Ms: number
  maxMs: number
}

export interface EventLoopMonitor {
  start(): void
  read(): EventLoopDelay
  /** Twice safely. */
  close(): void
}

const RESOLUTION_MS = 20
const WINDOW_MS = 60_000
const NS_PER_MS = 1e6

/** Measures how late timers of the event loop fire. Costs one native timer per 20 ms. */
export function eventLoopMonitor(clock: Clock): EventLoopMonitor {
  const histogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  let startedMs = clock.monotonic()
  let previous: EventLoopDelay = { meanMs: 0, p99Ms: 0, maxMs: 0 }

  /** The timer itself contributes its resolution. */
  const delay = (ns: number) => (Number.isFinite(ns) ? Math.max(0, Math.round(ns / NS_PER_MS - RESOLUTION_MS)) : 0)

  return {
    start: () => void histogram.enable(),
    read() {
      const { count, mean, max } = histogram
      const current =
        count === 0
          ? { meanMs: 0, p99Ms: 0, maxMs: 0 }
          : { meanMs: delay(mean), p99Ms: delay(histogram.percentile(99)), maxMs: delay(max) }
      const shown = {
        meanMs: Math.max(current.meanMs, previous.meanMs),
        p99Ms: Math.max(current.p99Ms, previous.p99Ms),
        maxMs: Math.max(current.maxMs, previous.maxMs),
      }
      const nowMs = clock.monotonic()
      if (nowMs - startedMs >= WINDOW_MS) {
        // After a long time without a read, the values of the whole time count once.
        previous = current
        startedMs = nowMs
        histogram.reset()
      }
      return shown
    },
    close: () => void histogram.disable(),
  }
}
