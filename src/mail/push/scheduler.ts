import { type Ownership, OwnershipLost } from '../../accounts/index.ts'
import type { Bus } from '../../platform/bus/index.ts'
import { eachInTurns } from '../../platform/concurrency/event-loop.ts'
import { backoffMs } from '../../platform/concurrency/retry.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { OwnedScheduler, type RunContext, type RunResult } from '../../platform/schedule/index.ts'
import { ProviderError, type ProviderName } from '../../providers/contract/index.ts'
import { pushStore } from './store.ts'
import { type PushChannel, type PushSubscriptionDeps, pushSubscriptions } from './subscriptions.ts'

/** The push channels by provider. Accounts of other providers are polled. */
export type PushChannels = {
  readonly [Name in ProviderName]?: PushChannel & {
    /** Whether notifications arrive at present. */
    isReceiving(): boolean
  }
}

export interface PushDeps extends Omit<PushSubscriptionDeps, 'channel' | 'syncNeeded'> {
  bus: Bus
  ownership: Ownership
  channels: PushChannels
}

export interface Push {
  /** Starts maintaining the subscriptions of the owned accounts. Call it before `ownership.start()`. */
  start(): void
  /** Call it before `ownership.stop()`. */
  stop(graceMs: number): Promise<void>
  /** Whether the provider notifies us of changes to this owned account. */
  isPushed(accountId: string): boolean
  /** Calls the listener with owned accounts that may have missed notifications or lost their subscription. */
  onSyncNeeded(listener: (accountId: string) => void): void
  /** Call it when a channel starts or stops receiving: renews the subscriptions and syncs the subscribed accounts. */
  channelChanged(): void
  /** Ends the subscription of a deleted account; see `PushSubscriptions.end`. */
  endSubscription(accountId: string, findToken: () => Promise<string | undefined>): Promise<void>
}

/** The bus topic for renewals that a provider requested. The payload is the account id. */
export const RENEWAL_TOPIC = 'push.renewal'

const CONCURRENCY = 8
/** After a refusal: someone may change the settings at the provider, or our URL was not reachable yet at the start. */
const REFUSED = { baseMs: 60_000, capMs: 60 * 60 * 1000 }
const RETRY = { baseMs: 1000, capMs: 300_000 }
/** Bounds the timer, so that a clock change is noticed within the hour. */
const MAX_WAIT_MS = 60 * 60 * 1000

/** Creates and renews the push subscriptions of the owned accounts. */
export function push(deps: PushDeps): Push {
  const { db, bus, ownership, clock, log } = deps
  const listeners: ((accountId: string) => void)[] = []
  const subscriptions = pushSubscriptions({ ...deps, channel: (provider) => deps.channels[provider], syncNeeded })
  const scheduler = new OwnedScheduler({
    clock,
    log,
    operation: 'push.subscribe',
    concurrency: CONCURRENCY,
    backoff: RETRY,
    run,
  })
  /** Owned accounts with a valid subscription. */
  const subscribed = new Map<string, { provider: ProviderName; until: number }>()
  let sweeping: Promise<void> | undefined
  let unsubscribe = () => {}
  let stopped = false

  function syncNeeded(accountId: string): void {
    for (const listener of listeners) listener(accountId)
  }

  function isPushed(accountId: string): boolean {
    const found = subscribed.get(accountId)
    return found !== undefined && found.until > clock.now() && deps.channels[found.provider]?.isReceiving() === true
  }

  async function run(accountId: string, { failures }: RunContext): Promise<RunResult> {
    const epoch = ownership.owned().get(accountId)
    if (epoch === undefined || stopped) {
      subscribed.delete(accountId)
      return {}
    }
    try {
      const subscription = await subscriptions.ensure(accountId, epoch)
      if (subscription === undefined) {
        unsubscribed(accountId)
        return {}
      }
      subscribed.set(accountId, { provider: subscription.provider, until: subscription.expiresAt })
      return { nextRunInMs: Math.max(1000, Math.min(subscription.renewAt - clock.now(), MAX_WAIT_MS)) }
    } catch (error) {
      return failed(accountId, error, failures + 1)
    }
  }

  /** Syncs the account, because its next poll was scheduled for a pushed account, minutes away. */
  function unsubscribed(accountId: string): void {
    if (subscribed.delete(accountId)) syncNeeded(accountId)
  }

  function failed(accountId: string, error: unknown, attempts: number): RunResult {
    if (error instanceof OwnershipLost || (error instanceof AppError && error.code === 'not_found')) {
      subscribed.delete(accountId)
      return {}
    }
    if (!(error instanceof ProviderError)) throw error
    // Sync reports rejected credentials. New credentials change the account, which runs this again.
    if (error.kind === 'auth_expired') {
      unsubscribed(accountId)
      return { failure: error }
    }
    if (error.kind === 'rejected' || error.kind === 'not_found') {
      unsubscribed(accountId)
      log.warn('The provider refused the push subscription; the mailbox is polled instead.', {
        accountId,
        operation: 'push.subscribe',
        error,
      })
      return { failure: error, nextRunInMs: backoffMs(attempts, REFUSED) }
    }
    // A subscription that was not renewed stays valid until it expires.
    if (!isPushed(accountId)) unsubscribed(accountId)
    // Clocks differ, so a Retry-After date may be in the past: that is no pause.
    const { retryAfterMs = 0 } = error
    if (retryAfterMs === 0) throw error
    return { failure: error, nextRunInMs: retryAfterMs * (1 + 0.2 * Math.random()) }
  }

  function remove(accountId: string): void {
    scheduler.remove(accountId)
    subscribed.delete(accountId)
  }

  function sweep(): void {
    if (stopped) return
    sweeping ??= renewDue()
      .catch((error: unknown) => {
        log.debug('Cannot read due push subscriptions; the next ownership round tries again.', {
          operation: 'push.sweep',
          error,
        })
      })
      .finally(() => {
        sweeping = undefined
      })
  }

  /** Catches lifecycle notifications whose hint was lost. */
  async function renewDue(): Promise<void> {
    for (const accountId of await pushStore(db.read).listDue()) {
      // After a failure the backoff says when to retry.
      if (scheduler.state(accountId)?.attempts === 0) scheduler.request(accountId)
    }
  }

  return {
    isPushed,
    onSyncNeeded: (listener) => void listeners.push(listener),
    endSubscription: subscriptions.end,

    start() {
      ownership.onChange(({ lost, gained, changed }) => {
        for (const accountId of lost) remove(accountId)
        if (!stopped) for (const accountId of [...gained, ...changed]) scheduler.add(accountId)
      })
      ownership.onRound(sweep)
      unsubscribe = bus.subscribe(RENEWAL_TOPIC, (accountId) => {
        if (accountId === undefined) sweep()
        else scheduler.request(accountId)
      })
    },

    channelChanged() {
      if (stopped) return
      void eachInTurns(ownership.owned().keys(), (accountId) => scheduler.add(accountId))
      void eachInTurns(subscribed.keys(), syncNeeded)
    },

    async stop(graceMs) {
      stopped = true
      unsubscribe()
      await Promise.all([scheduler.stop(graceMs), sweeping])
    },
  }
}
