import { backoffMs } from '../../../platform/concurrency/retry.ts'
import type { Clock } from '../../../platform/time/clock.ts'

/** `unreachable`: the host accepted no connection. `failed`: it did, but the run failed. */
export type Outcome = 'succeeded' | 'failed' | 'unreachable'

interface Circuit {
  failures: number
  /** Monotonic; no account connects before then. */
  openUntil: number
}

const BACKOFF = { baseMs: 250, capMs: 30_000 }

/** One circuit breaker per mail host, so that its accounts do not all retry while it is unreachable. The delay grows with each failure. */
export class HostCircuits {
  readonly #clock: Clock
  readonly #circuits = new Map<string, Circuit>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** How long an account must wait before it connects, with jitter. 0: it may connect now. */
  waitMs(host: string): number {
    const { openUntil = 0 } = this.#circuits.get(host) ?? {}
    return Math.max(0, openUntil - this.#clock.monotonic()) * (1 + Math.random())
  }

  /** Consecutive attempts, of any account, that could not reach the host. */
  failures(host: string): number {
    return this.#circuits.get(host)?.failures ?? 0
  }

  record(host: string, outcome: Outcome): void {
    if (outcome === 'succeeded') this.#circuits.delete(host)
    if (outcome !== 'unreachable') return
    const failures = this.failures(host) + 1
    this.#circuits.set(host, { failures, openUntil: this.#clock.monotonic() + backoffMs(failures, BACKOFF) })
  }

  /** Lets the accounts of every host connect now. */
  reset(): void {
    for (const circuit of this.#circuits.values()) circuit.openUntil = 0
  }
}
