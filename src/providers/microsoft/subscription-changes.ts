import { sleep } from '../../platform/concurrency/abort.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { ProviderError } from '../contract/index.ts'
import { ProjectBudget, type SharedLimit } from '../shared/rest/index.ts'

/**
 * Graph limits how many subscriptions an application creates, renews and ends in one tenant. The table of its documentation has changed
 * over the years, from 500 to 2,000 in 20 seconds (https://learn.microsoft.com/graph/throttling-limits). With the lowest, two instances
 * together stay below 1,000.
 */
const LIMIT: SharedLimit = { units: 500, perMs: 20_000 }

/** Lets subscriptions of all mailboxes wait for their turn, so that a tenant that starts, or whose renewals fall together, is not refused. */
export class SubscriptionChanges {
  readonly #budget: ProjectBudget
  #closing = new AbortController()

  constructor(clock: Clock, limit: SharedLimit = LIMIT) {
    this.#budget = new ProjectBudget(limit, clock)
  }

  /** Throws `unavailable` when the connections are closed meanwhile. */
  async awaitTurn(doing: string): Promise<void> {
    const { signal } = this.#closing
    for (;;) {
      const waitMs = this.#budget.waitMs(1, 'normal')
      if (waitMs <= 0) return this.count()
      await sleep(waitMs, signal)
      if (signal.aborted) throw new ProviderError('unavailable', `${doing}: the mailbox was closed`)
    }
  }

  /** Counts a change that does not wait: the end of a subscription has ten seconds. */
  count(): void {
    this.#budget.spend(1)
  }

  /** Graph refused a change. The limit falls to what it accepted. */
  refused(): void {
    this.#budget.refuse({ isOfProject: true })
  }

  /** Ends the waiting. Changes may be made again afterwards. */
  close(): void {
    this.#closing.abort()
    this.#closing = new AbortController()
  }
}
