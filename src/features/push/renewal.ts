import type { Bus } from '../../infra/bus/index.ts'
import { AppError } from '../../lib/errors.ts'
import { backoffMs } from '../../lib/retry.ts'
import { ProviderError, type ProviderName } from '../../providers/contract/index.ts'
import { OwnedScheduler, type Ownership, OwnershipLost, type RunContext, type RunResult } from '../accounts/index.ts'
import { pushStore } from './store.ts'
import { type PushWay, type SubscriberDeps, subscriber } from './subscriptions.ts'

/** How each provider notifies us of changes; mailboxes of the others are polled. */
export type PushWays = {
  readonly [Name in ProviderName]?: PushWay & {
    /** Whether notifications reach us. */
    isHeard(): boolean
  }
}

export interface PushDeps extends Omit<SubscriberDeps, 'way' | 'syncNeeded'> {
  bus: Bus
  ownership: Ownership
  ways: PushWays
}

export interface Push {
  /** Keeps the subscriptions of the accounts this process owns from now on. Call it before `ownership.start()`. */
  start(): void
  /** Call it before `ownership.stop()`. */
  stop(graceMs: number): Promise<void>
  /** Whether the provider notifies us of changes of this account, which this process owns. */
  isPushed(accountId: string): boolean
  /** Calls the listener for an owned account that may have missed changes, or must be polled from now on. */
  onSyncNeeded(listener: (accountId: string) => void): void
  /** Notifications of a provider begin or cease to reach us: its accounts are subscribed and synced again. */
  wayChanged(): void
  /** Of a deleted account; see `Subscriber.forget`. */
  forget(accountId: string): Promise<void>
}

/** The bus topic of accounts whose subscription is due, because the provider said so; the payload is the account id. */
export const RENEWAL_TOPIC = 'push.renewal'

const CONCURRENCY = 8
/** People may correct at the provider what it refuses, in an hour or a day; or it did not reach our address at start. */
const REFUSED = { baseMs: 60_000, capMs: 60 * 60 * 1000 }
const RETRY = { baseMs: 1000, capMs: 300_000 }
/** No timer is trusted for days. */
const LONGEST_MS = 60 * 60 * 1000

/** Keeps the push subscriptions of owned accounts; what cannot be subscribed is polled. */
export function push(deps: PushDeps): Push {
  const { db, bus, ownership, clock, log } = deps
  const listeners: ((accountId: string) => void)[] = []
  const keeper = subscriber({ ...deps, way: (provider) => deps.ways[provider], syncNeeded })
  const scheduler = new OwnedScheduler({
    ...{ clock, log, operation: 'push.subscribe', concurrency: CONCURRENCY, backoff: RETRY, run },
  })
  /** Of owned accounts. */
  const subscribed = new Map<string, { provider: ProviderName; until: number }>()
  let sweeping: Promise<void> | undefined
  let unsubscribe = () => {}
  let stopped = false

  function syncNeeded(accountId: string): void {
    for (const listener of listeners) listener(accountId)
  }

  function isPushed(accountId: string): boolean {
    const found = subscribed.get(accountId)
    return found !== undefined && found.until > clock.now() && deps.ways[found.provider]?.isHeard() === true
  }

  async function run(accountId: string, { failures }: RunContext): Promise<RunResult> {
    const epoch = ownership.owned().get(accountId)
    if (epoch === undefined || stopped) {
      subscribed.delete(accountId)
      return {}
    }
    try {
      const kept = await keeper.keep(accountId, epoch)
      if (kept === undefined) {
        unsubscribed(accountId)
        return {}
      }
      subscribed.set(accountId, { provider: kept.provider, until: kept.expiresAt })
      return { nextRunInMs: Math.max(1000, Math.min(kept.renewAt - clock.now(), LONGEST_MS)) }
    } catch (error) {
      return failed(accountId, error, failures + 1)
    }
  }

  /** Its next poll was minutes away, and is from now on as soon as that of any other. */
  function unsubscribed(accountId: string): void {
    if (subscribed.delete(accountId)) syncNeeded(accountId)
  }

  function failed(accountId: string, error: unknown, attempts: number): RunResult {
    if (error instanceof OwnershipLost || (error instanceof AppError && error.code === 'not_found')) {
      subscribed.delete(accountId)
      return {}
    }
    if (!(error instanceof ProviderError)) throw error
    // Sync reports refused credentials; new ones change the account.
    if (error.kind === 'auth_expired') {
      unsubscribed(accountId)
      return { failure: error }
    }
    if (error.kind === 'rejected' || error.kind === 'not_found') {
      unsubscribed(accountId)
      log.warn('The provider refused to notify of changes; the mailbox is polled.', {
        ...{ accountId, operation: 'push.subscribe', error },
      })
      return { failure: error, nextRunInMs: backoffMs(attempts, REFUSED) }
    }
    // A subscription that could not be renewed is good until it expires.
    if (!isPushed(accountId)) unsubscribed(accountId)
    // Clocks differ: a date that has passed here is no pause.
    const { retryAfterMs = 0 } = error
    if (retryAfterMs === 0) throw error
    return { failure: error, nextRunInMs: retryAfterMs * (1 + 0.2 * Math.random()) }
  }

  function add(accountIds: Iterable<string>): void {
    for (const accountId of accountIds) scheduler.add(accountId)
  }

  function remove(accountId: string): void {
    scheduler.remove(accountId)
    subscribed.delete(accountId)
  }

  function sweep(): void {
    if (stopped) return
    sweeping ??= renewDue()
      .catch((error: unknown) => {
        log.debug('Due subscriptions could not be read; the next round reads them.', { operation: 'push.sweep', error })
      })
      .finally(() => {
        sweeping = undefined
      })
  }

  /** Lifecycle notifications whose hint was lost. */
  async function renewDue(): Promise<void> {
    const owned = ownership.owned()
    for (const accountId of scheduler.ids()) if (!owned.has(accountId)) remove(accountId)
    for (const accountId of owned.keys()) if (!scheduler.has(accountId)) scheduler.add(accountId)
    for (const accountId of await pushStore(db.read).allDue()) {
      // After a failure the backoff says when to retry.
      if (scheduler.state(accountId)?.attempts === 0) scheduler.request(accountId)
    }
  }

  return {
    isPushed,
    onSyncNeeded: (listener) => void listeners.push(listener),
    forget: (accountId) => keeper.forget(accountId),

    start() {
      ownership.onChange(({ lost, gained, changed }) => {
        for (const accountId of lost) remove(accountId)
        if (!stopped) add([...gained, ...changed])
      })
      ownership.onRound(sweep)
      unsubscribe = bus.subscribe(RENEWAL_TOPIC, (accountId) => {
        if (accountId === undefined) sweep()
        else scheduler.request(accountId)
      })
      add(ownership.owned().keys())
    },

    wayChanged() {
      if (stopped) return
      add(ownership.owned().keys())
      for (const accountId of subscribed.keys()) syncNeeded(accountId)
    },

    async stop(graceMs) {
      stopped = true
      unsubscribe()
      await Promise.all([scheduler.stop(graceMs), sweeping])
    },
  }
}
