import type { Clock } from '../../lib/clock.ts'
import { backoffMs } from '../../lib/retry.ts'

/** `unreachable`: no connection to the host; `failed`: it was reached, the run failed all the same. */
export type Outcome = 'succeeded' | 'failed' | 'unreachable'

interface Circuit {
  failures: number
  /** Monotonic; until then no account connects. */
  closedUntil: number
}

const CLOSED = { baseMs: 250, capMs: 30_000 }

/** Keeps the accounts of a mail host that cannot be reached from trying all at once, and ever more seldom as it lasts. */
export class HostCircuits {
  readonly #clock: Clock
  readonly #circuits = new Map<string, Circuit>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** How long an account of this host should wait before it connects, different for each account; 0 for now. */
  waitMs(host: string): number {
    const { closedUntil = 0 } = this.#circuits.get(host) ?? {}
    return Math.max(0, closedUntil - this.#clock.monotonic()) * (1 + Math.random())
  }

  /** How many attempts in a row, of any account, could not reach the host. */
  failures(host: string): number {
    return this.#circuits.get(host)?.failures ?? 0
  }

  record(host: string, outcome: Outcome): void {
    if (outcome === 'succeeded') this.#circuits.delete(host)
    if (outcome !== 'unreachable') return
    const failures = this.failures(host) + 1
    this.#circuits.set(host, { failures, closedUntil: this.#clock.monotonic() + backoffMs(failures, CLOSED) })
  }

  /** Lets accounts of every host connect now. */
  reset(): void {
    for (const circuit of this.#circuits.values()) circuit.closedUntil = 0
  }
}
