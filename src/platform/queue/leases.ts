import type { Clock } from '../time/clock.ts'
import type { Claim } from './job-store.ts'

/** A claimed job that runs in this process. */
export interface Held extends Claim {
  controller: AbortController
  /** Monotonic time at which others may claim the job, unless the lease is renewed. */
  leasedUntil: number
}

interface LeaseDeps {
  clock: Clock
  leaseMs: number
  held(): readonly Held[]
  /** Returns the keys whose leases were still held. */
  renew(held: readonly Held[]): Promise<string[]>
  onError(error: unknown): void
}

/** Renews the leases of running jobs until `stop`. Aborts runs whose lease was lost, or expired by the local clock. */
export function renewLeases({ clock, leaseMs, held, renew, onError }: LeaseDeps): { stop(): void } {
  let renewing = false

  async function tick(): Promise<void> {
    const current = held()
    const now = clock.monotonic()
    for (const run of current) if (run.leasedUntil < now) abort(run)
    if (current.length === 0 || renewing) return
    renewing = true
    try {
      const kept = new Set(await renew(current))
      for (const run of current) {
        if (kept.has(run.key)) run.leasedUntil = now + leaseMs
        else abort(run)
      }
    } catch (error) {
      onError(error)
    } finally {
      renewing = false
    }
  }

  const timer = setInterval(() => void tick(), leaseMs / 4)
  return { stop: () => clearInterval(timer) }
}

const abort = (held: Held) => held.controller.abort(new Error('the lease of this job was lost'))
