import type { Ownership } from '../../accounts/index.ts'
import type { RunOutcome } from '../../mail/sync/index.ts'

const STATES = {
  succeeded: 'connected',
  retrying: 'retrying',
  stalled: 'error',
  refused: 'auth_error',
  paused: 'paused',
} as const satisfies Record<RunOutcome, string>

interface Counted {
  provider: string
  state: string
  count: number
}

/** The state of each owned account after its last run, in memory: counting the rows would read every account. */
export class AccountStates {
  /** Accounts in the same state share an entry. */
  readonly #states = new Map<string, Counted>()
  readonly #counts = new Map<string, Counted>()

  /** Forgets accounts that this instance loses. */
  follow(ownership: Pick<Ownership, 'onChange'>): void {
    ownership.onChange(({ lost }) => {
      for (const accountId of lost) this.#forget(accountId)
    })
  }

  set(accountId: string, provider: string, outcome: RunOutcome): void {
    this.#forget(accountId)
    const state = STATES[outcome]
    const key = `${provider} ${state}`
    const counted = this.#counts.get(key) ?? { provider, state, count: 0 }
    counted.count += 1
    this.#counts.set(key, counted)
    this.#states.set(accountId, counted)
  }

  counts(): readonly { provider: string; state: string; count: number }[] {
    return [...this.#counts.values()].filter(({ count }) => count > 0)
  }

  #forget(accountId: string): void {
    const counted = this.#states.get(accountId)
    if (counted !== undefined) counted.count -= 1
    this.#states.delete(accountId)
  }
}
