import type { Ownership } from '../accounts/index.ts'
import type { RunOutcome } from '../sync/index.ts'

const STATES = {
  succeeded: 'connected',
  retrying: 'retrying',
  stalled: 'error',
  refused: 'auth_error',
  paused: 'paused',
} as const satisfies Record<RunOutcome, string>

/** The state of each owned account after its last run, in memory: counting the rows would read every account. */
export class AccountStates {
  readonly #states = new Map<string, { provider: string; state: string }>()

  /** Forgets accounts that this instance loses. */
  follow(ownership: Pick<Ownership, 'onChange'>): void {
    ownership.onChange(({ lost }) => {
      for (const accountId of lost) this.#states.delete(accountId)
    })
  }

  set(accountId: string, provider: string, outcome: RunOutcome): void {
    this.#states.set(accountId, { provider, state: STATES[outcome] })
  }

  counts(): { provider: string; state: string; count: number }[] {
    const counts = new Map<string, { provider: string; state: string; count: number }>()
    for (const { provider, state } of this.#states.values()) {
      const key = `${provider} ${state}`
      const entry = counts.get(key) ?? { provider, state, count: 0 }
      entry.count += 1
      counts.set(key, entry)
    }
    return [...counts.values()]
  }
}
