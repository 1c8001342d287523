import type { Clock } from '../../lib/clock.ts'
import type { Claim } from './job-store.ts'

/** A claimed job that runs in this process. */
export interface Held extends Claim {
  controller: AbortController
  /** Monotonic; when others may take the job unless the lease is renewed. */
  leasedUntil: number
}

export interface LeaseKeeperDeps {
  clock: Clock
  leaseMs: number
  held(): readonly Held[]
  /** Answers the subjects whose leases still stood. */
  renew(held: readonly Held[]): Promise<string[]>
  onError(error: unknown): void
}

/** Renews the leases of running jobs, and aborts the runs whose lease was lost, be it only by this process having been silent. */
export class LeaseKeeper {
  readonly #deps: LeaseKeeperDeps
  readonly #timer: NodeJS.Timeout
  #renewing = false

  constructor(deps: LeaseKeeperDeps) {
    this.#deps = deps
    this.#timer = setInterval(() => void this.#tick(), deps.leaseMs / 3)
  }

  async #tick(): Promise<void> {
    const { clock, leaseMs } = this.#deps
    const held = this.#deps.held()
    const now = clock.monotonic()
    for (const one of held) if (one.leasedUntil < now) lose(one)
    if (held.length === 0 || this.#renewing) return
    this.#renewing = true
    try {
      const kept = new Set(await this.#deps.renew(held))
      for (const one of held) {
        if (kept.has(one.subject)) one.leasedUntil = now + leaseMs
        else lose(one)
      }
    } catch (error) {
      this.#deps.onError(error)
    } finally {
      this.#renewing = false
    }
  }

  stop(): void {
    clearInterval(this.#timer)
  }
}

function lose(held: Held): void {
  held.controller.abort(new Error('the lease of this job was lost'))
}
