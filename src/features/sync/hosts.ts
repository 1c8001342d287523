import type { Clock } from '../../lib/clock.ts'
import { backoffMs } from '../../lib/retry.ts'

/** Leave to work on an account of a host, or how long to stay away. */
export type Admission = { admitted: true; leave(outcome: Outcome): void } | { admitted: false; waitMs: number }

/** `down`: the host could not be reached. */
export type Outcome = 'well' | 'failed' | 'down'

export interface Hosts {
  /** `connected`: a session stands, so only the crowd counts, not whether the host can be reached. */
  enter(host: string, connected: boolean): Admission
  /** How often in a row the host could not be reached, by whichever account. */
  failures(host: string): number
  /** Lets accounts of hosts that could not be reached try now. */
  reopen(): void
}

interface Host {
  running: number
  failures: number
  /** Monotonic; until then nobody tries to connect. */
  closedUntil: number
}

const CROWDED_MS = 500
const CLOSED = { baseMs: 250, capMs: 30_000 }

/**
 * Keeps one host that hangs or is gone from taking every place that accounts of other hosts need: at most `most` accounts of a host
 * are worked on at once, and while it cannot be reached a few try, not all.
 */
export function hosts(clock: Clock, most: number): Hosts {
  const known = new Map<string, Host>()
  return {
    enter(name, connected) {
      const host = known.get(name) ?? { running: 0, failures: 0, closedUntil: 0 }
      known.set(name, host)
      const closedMs = connected ? 0 : host.closedUntil - clock.monotonic()
      if (closedMs > 0 || host.running >= most) {
        const waitMs = Math.max(closedMs, CROWDED_MS)
        return { admitted: false, waitMs: waitMs * (1 + Math.random()) }
      }
      host.running += 1
      let inside = true
      return {
        admitted: true,
        leave(outcome) {
          if (!inside) return
          inside = false
          host.running -= 1
          if (outcome === 'down') {
            host.failures += 1
            host.closedUntil = clock.monotonic() + backoffMs(host.failures, CLOSED)
          } else if (outcome === 'well') host.failures = host.closedUntil = 0
          if (host.running === 0 && host.failures === 0) known.delete(name)
        },
      }
    },
    failures: (name) => known.get(name)?.failures ?? 0,
    reopen() {
      for (const host of known.values()) host.closedUntil = 0
    },
  }
}
