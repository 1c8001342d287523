import { LRUCache } from 'lru-cache'
import type { Accounts } from '../../accounts/index.ts'
import { concurrencyLimit } from '../../platform/concurrency/limit.ts'
import { rethrowProgrammingError } from '../../platform/errors/programming-errors.ts'
import { atMost } from '../../platform/lru.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { ProviderName, SendProvider } from '../../providers/contract/index.ts'

export interface AliasDeps {
  accounts: Pick<Accounts, 'get' | 'access'>
  sending(provider: ProviderName): Pick<SendProvider, 'listSenders'>
  clock: Clock
}

/** Knows which further addresses are the accounts' own. */
export interface Aliases {
  /** The addresses that the provider names for each account, in lower case. Empty for one that did not respond. Never throws for a provider. */
  find(accountIds: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, readonly string[]>>
}

interface Known {
  addresses: readonly string[]
  /** Until then, the provider is not asked again. On the monotonic clock. */
  untilMs: number
}

const MAX_ACCOUNTS = 10_000
const KNOWN_MS = 24 * 3_600_000
const RETRY_MS = 3_600_000
const LISTING_MS = 10_000
const CONCURRENT = 8

/**
 * Asks the provider of an account at most once a day, and only while the account has messages to learn from. Nothing is stored: a stored
 * list would have to be kept in sync, and a process that starts anew asks again.
 */
export function accountAliases({ accounts, sending, clock }: AliasDeps): Aliases {
  const known = new LRUCache<string, Known>({ ...atMost(MAX_ACCOUNTS) })
  const limit = concurrencyLimit(CONCURRENT)

  async function read(accountId: string, signal: AbortSignal): Promise<Known> {
    const nowMs = clock.monotonic()
    const last = known.get(accountId)
    if (last !== undefined && last.untilMs > nowMs) return last
    try {
      return { addresses: await list(accountId, signal), untilMs: nowMs + KNOWN_MS }
    } catch (error) {
      rethrowProgrammingError(error)
      signal.throwIfAborted()
      // Until the provider responds, an alias may be learnt as a person, and is forgotten afterwards.
      return { addresses: last?.addresses ?? [], untilMs: nowMs + RETRY_MS }
    }
  }

  async function list(accountId: string, stopping: AbortSignal): Promise<readonly string[]> {
    const { provider, status } = await accounts.get(accountId)
    const remote = sending(provider)
    if (remote.listSenders === undefined) return []
    if (status === 'paused' || status === 'auth_error') throw new Error(`the account is ${status}`)
    const signal = AbortSignal.any([stopping, AbortSignal.timeout(LISTING_MS)])
    const { addresses } = await remote.listSenders(await accounts.access(accountId), signal)
    return addresses.map((address) => address.trim().toLowerCase())
  }

  return {
    async find(accountIds, signal) {
      const found = await Promise.all(
        accountIds.map((accountId) =>
          limit(async () => {
            const now = await read(accountId, signal)
            known.set(accountId, now)
            return [accountId, now.addresses] as const
          }),
        ),
      )
      return new Map(found)
    },
  }
}
