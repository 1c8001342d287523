import type { Account, Fence } from '../../accounts/index.ts'
import { withTimeout } from '../../platform/concurrency/abort.ts'
import { backoffMs } from '../../platform/concurrency/retry.ts'
import { hashClientState } from '../../platform/crypto/client-state.ts'
import type { Db } from '../../platform/db/index.ts'
import { secretToken } from '../../platform/ids.ts'
import type { Log } from '../../platform/log/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import {
  type CalendarProvider,
  type CalendarPush,
  type MailAccess,
  ProviderError,
  type ProviderName,
  type PushSubscription,
} from '../../providers/contract/index.ts'
import type { CalendarRow } from '../store.ts'
import { type CalendarSubscription, calendarSubscriptionStore } from './store.ts'

export interface CalendarSubscriptionsDeps {
  db: Db
  clock: Clock
  log: Log
  fence: Fence
  calendars(provider: ProviderName): CalendarProvider
  /** Where a provider sends its notifications. Undefined when they cannot be received. */
  pushTarget(provider: ProviderName): { url: string; lifecycleUrl: string } | undefined
}

type FindToken = () => Promise<string | undefined>

export interface Subscriber {
  account: Account
  epoch: number
  access: MailAccess
}

const DAY_MS = 24 * 60 * 60 * 1000
const END_MS = 10_000
/** After a refusal: the calendar may never be watched, or somebody must change the settings at the provider. */
const REFUSED = { baseMs: 10 * 60_000, capMs: DAY_MS }
const FAILED_MS = 5 * 60_000

/**
 * Creates, renews and ends the push subscriptions of calendars, as their provider has them: one for each calendar, or one for the
 * account. A subscription is created at the provider before it is stored: after a kill in between it expires there.
 */
export function calendarSubscriptions({ db, clock, log, fence, ...deps }: CalendarSubscriptionsDeps) {
  /** When to ask again after a failure, by account and calendar. */
  const paused = new Map<string, Map<string, { attempts: number; until: number }>>()

  /**
   * Returns the subscriptions of the account afterwards. A new one counts as notified, because its calendar may have changed before it
   * was stored. Failures are logged, and their calendars polled. Throws `OwnershipLost`.
   */
  async function ensure(subscriber: Subscriber, rows: readonly CalendarRow[]): Promise<CalendarSubscription[]> {
    const { account, access } = subscriber
    const push = deps.calendars(account.provider).push
    if (push === undefined) return []
    const target = deps.pushTarget(account.provider)
    const wanted = new Map<string, string>()
    // Graph notifies the token of a person only of that person's own calendars.
    if (target !== undefined && account.watch && account.sharedWith === null) {
      if (push.covers === 'account') wanted.set('', '')
      else for (const { id, providerId } of rows) wanted.set(id, providerId)
    }
    const current = new Map<string, CalendarSubscription>()
    for (const row of await calendarSubscriptionStore(db.read).of(account.id)) {
      if (wanted.has(row.calendarId) && row.target === target?.url) current.set(row.calendarId, row)
      else await cancel(row, push, access)
    }
    const failing = new Set(rows.filter(({ failures }) => failures > 0).map(({ id }) => id))
    for (const [calendarId, providerId] of wanted) {
      // A calendar that cannot be read cannot be watched either.
      if (failing.has(calendarId)) continue
      const row = current.get(calendarId)
      const isPaused = (paused.get(account.id)?.get(calendarId)?.until ?? 0) > clock.now()
      if (target === undefined || isPaused || (row !== undefined && row.renewAt > clock.now())) continue
      try {
        current.set(calendarId, await createOrRenew(push, subscriber, { calendarId, providerId, target, row }))
        paused.get(account.id)?.delete(calendarId)
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error
        // Other calendars would fail likewise.
        if (!pause(account.id, calendarId, error)) break
      }
    }
    return [...current.values()]
  }

  async function createOrRenew(
    push: CalendarPush,
    { account, access, epoch }: Subscriber,
    {
      calendarId,
      providerId,
      target,
      row: stored,
    }: {
      calendarId: string
      providerId: string
      target: { url: string; lifecycleUrl: string }
      row: CalendarSubscription | undefined
    },
  ): Promise<CalendarSubscription> {
    const current = stored !== undefined && stored.expiresAt > clock.now() ? stored : undefined
    const clientState = secretToken()
    const requested = { kind: 'webhook' as const, ...target, clientState }
    const subscription = await renewed(push, access, providerId, current, requested)
    const isNew = subscription.id !== current?.subscriptionId
    const left = subscription.expiresAt - clock.now()
    // Daily where it is one request for the account, to find out early that it was removed.
    const renewInMs = Math.round(Math.min(push.covers === 'account' ? DAY_MS : left, left / 2) * jitter())
    const row: CalendarSubscription = {
      accountId: account.id,
      calendarId,
      provider: account.provider,
      target: target.url,
      subscriptionId: subscription.id,
      expiresAt: subscription.expiresAt,
      renewAt: clock.now() + renewInMs,
      clientStateHash: isNew ? hashClientState(clientState) : (current?.clientStateHash ?? ''),
      isNotified: isNew ? 1 : (current?.isNotified ?? 0),
    }
    try {
      await db.transaction(async (tx) => {
        await fence(tx, account.id, epoch)
        await calendarSubscriptionStore(tx).save(row)
      })
    } catch (error) {
      if (isNew) await bestEffort(push.end(access, subscription.id), account.id)
      throw error
    }
    return row
  }

  async function renewed(
    push: CalendarPush,
    access: MailAccess,
    providerId: string,
    current: CalendarSubscription | undefined,
    target: Parameters<CalendarPush['begin']>[2],
  ): Promise<PushSubscription> {
    if (current === undefined) return push.begin(access, providerId, target)
    try {
      return await push.renew(access, providerId, current.subscriptionId, target)
    } catch (error) {
      if (!(error instanceof ProviderError) || error.kind !== 'not_found') throw error
      return push.begin(access, providerId, target)
    }
  }

  /** Returns whether the error concerns this calendar only. The calendar is polled meanwhile. */
  function pause(accountId: string, calendarId: string, error: ProviderError): boolean {
    const pauses = paused.get(accountId) ?? new Map<string, { attempts: number; until: number }>()
    paused.set(accountId, pauses)
    const isRefused = error.kind === 'rejected' || error.kind === 'not_found'
    const attempts = (pauses.get(calendarId)?.attempts ?? 0) + 1
    const pauseMs = isRefused ? backoffMs(attempts, REFUSED) : Math.max(FAILED_MS, error.retryAfterMs ?? 0)
    pauses.set(calendarId, { attempts: isRefused ? attempts : 0, until: clock.now() + pauseMs })
    if (attempts === 1) {
      log.info('Cannot subscribe to the changes of a calendar; it is polled instead.', {
        accountId,
        operation: 'push.calendars',
        error,
        metadata: { calendarId },
      })
    }
    return isRefused && !error.missingScope
  }

  /** Ends the subscription, best effort, and deletes its row. */
  async function cancel(row: CalendarSubscription, push: CalendarPush, access: MailAccess): Promise<void> {
    await bestEffort(push.end(access, row.subscriptionId), row.accountId)
    await db.transaction((tx) => calendarSubscriptionStore(tx).remove(row))
  }

  async function bestEffort(work: Promise<void>, accountId: string): Promise<void> {
    const late = () => new ProviderError('unavailable', 'ending a push subscription timed out', { timedOut: true })
    await withTimeout(work, END_MS, late).catch((error: unknown) => {
      log.info('Cannot end the push subscription of a calendar at the provider; it expires there.', {
        accountId,
        operation: 'push.end',
        error,
      })
    })
  }

  return {
    ensure,
    /** This process no longer owns the account. */
    forget: (accountId: string) => void paused.delete(accountId),

    /** Ends the subscriptions of a deleted account, best effort, in at most 10 s. `findToken` returns its access token until it is revoked. */
    async end(accountId: string, findToken: FindToken): Promise<void> {
      const rows = await calendarSubscriptionStore(db.read).of(accountId)
      if (rows.length > 0) await bestEffort(endForDeleted(accountId, rows, findToken), accountId)
      await db.transaction(async (tx) => {
        for (const row of rows) await calendarSubscriptionStore(tx).remove(row)
      })
    },
  }

  async function endForDeleted(accountId: string, rows: readonly CalendarSubscription[], findToken: FindToken) {
    const accessToken = await findToken()
    if (accessToken === undefined) return
    const access = { accountId, email: '', settings: {}, secrets: {}, accessToken: async () => accessToken }
    for (const { provider, subscriptionId } of rows) await deps.calendars(provider).push?.end(access, subscriptionId)
  }
}

export type CalendarSubscriptions = ReturnType<typeof calendarSubscriptions>

function jitter(): number {
  return 0.9 + 0.1 * Math.random()
}
