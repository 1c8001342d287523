import { type Accounts, accountQueries, type Fence } from '../../accounts/index.ts'
import { withTimeout } from '../../platform/concurrency/abort.ts'
import { hashClientState } from '../../platform/crypto/client-state.ts'
import type { Db } from '../../platform/db/index.ts'
import { secretToken } from '../../platform/ids.ts'
import type { Log } from '../../platform/log/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { PushProvider, PushSubscription, PushTarget } from '../../providers/contract/index.ts'
import { type MailAccess, ProviderError, type ProviderName } from '../../providers/contract/index.ts'
import { pushStore, type SubscriptionRow } from './store.ts'

/** How one provider notifies us of changes. */
export interface PushChannel {
  provider: PushProvider
  /** Where notifications are sent. Undefined while they cannot be received. */
  target(): { kind: 'topic'; topicName: string } | { kind: 'webhook'; url: string; lifecycleUrl: string } | undefined
}

export interface PushSubscriptionDeps {
  db: Db
  accounts: Pick<Accounts, 'get' | 'access'>
  fence: Fence
  channel(provider: ProviderName): PushChannel | undefined
  /** Called in the owning process when an account may have missed notifications. */
  syncNeeded(accountId: string): void
  clock: Clock
  log: Log
}

/** Google asks for a daily renewal of a watch. For Graph, a daily renewal detects subscriptions removed silently. */
const RENEW_MS = 24 * 60 * 60 * 1000
const END_MS = 10_000

/**
 * Creates, renews and ends the push subscriptions of accounts. A subscription is created at the provider before it is stored:
 * after a kill in between, its notifications are ignored and it expires.
 */
export function pushSubscriptions(deps: PushSubscriptionDeps) {
  const { db, accounts, clock, log } = deps

  /**
   * Creates or renews the subscription when due, and returns it. Returns undefined for an account that must be polled. Throws
   * `ProviderError`, not_found.
   */
  async function ensure(accountId: string, epoch: number): Promise<SubscriptionRow | undefined> {
    const account = await accounts.get(accountId)
    if (account.paused || account.status === 'auth_error') return undefined
    // Graph notifies the token of a person only of that person's own mailbox.
    if (account.sharedWith !== null) return undefined
    const channel = deps.channel(account.provider)
    const target = channel?.target()
    if (channel === undefined || target === undefined) return undefined
    const row = await pushStore(db.read).find(accountId)
    if (!account.watch) {
      if (row !== undefined) await cancel(row, channel.provider, await accounts.access(accountId))
      return undefined
    }
    const destination = target.kind === 'topic' ? target.topicName : target.url
    const isSame = row?.target === destination
    if (isSame && row.renewAt > clock.now()) return row
    const access = await accounts.access(accountId)
    if (row !== undefined && !isSame) await cancel(row, channel.provider, access)
    const current = isSame && row.expiresAt > clock.now() ? row : undefined
    const subscription = await createOrRenew(channel.provider, access, target, current)
    const isNew = current === undefined || subscription.id !== current.subscriptionId
    const next: SubscriptionRow = {
      accountId,
      provider: account.provider,
      target: destination,
      subscriptionId: subscription.id,
      clientStateHash: subscription.clientStateHash,
      expiresAt: subscription.expiresAt,
      renewAt: renewAt(subscription.expiresAt),
    }
    try {
      await save(next, epoch, isNew)
    } catch (error) {
      // A new owner creates its own subscription. A Gmail watch is shared by the whole mailbox and must stay.
      if (isNew && target.kind === 'webhook') await bestEffort(channel.provider.end(access, subscription.id), accountId)
      throw error
    }
    return next
  }

  async function createOrRenew(
    provider: PushProvider,
    access: MailAccess,
    target: NonNullable<ReturnType<PushChannel['target']>>,
    current: SubscriptionRow | undefined,
  ): Promise<PushSubscription & { clientStateHash: string | null }> {
    const clientState = secretToken()
    const requested: PushTarget = target.kind === 'topic' ? target : { ...target, clientState }
    if (current !== undefined) {
      try {
        const { clientStateHash } = current
        return { ...(await provider.renew(access, current.subscriptionId, requested)), clientStateHash }
      } catch (error) {
        if (!(error instanceof ProviderError) || error.kind !== 'not_found') throw error
      }
    }
    const clientStateHash = target.kind === 'topic' ? null : hashClientState(clientState)
    return { ...(await provider.begin(access, requested)), clientStateHash }
  }

  /** Stores the subscription. A new one may have missed changes before it was stored, so its account is synced. */
  async function save(row: SubscriptionRow, epoch: number, isNew: boolean): Promise<void> {
    await db.transaction(async (tx) => {
      await deps.fence(tx, row.accountId, epoch)
      await pushStore(tx).save(row)
      // In memory only: a new owner of the account syncs it anyway.
      if (isNew) tx.afterCommit(() => deps.syncNeeded(row.accountId))
    })
  }

  /** After a day, or half of the remaining time if that is less; jittered to spread the renewals. */
  function renewAt(expiresAt: number): number {
    const now = clock.now()
    return Math.round(now + Math.min(RENEW_MS, (expiresAt - now) / 2) * (0.9 + 0.1 * Math.random()))
  }

  /** Ends the subscription, best effort, and deletes its row. */
  async function cancel(row: SubscriptionRow, provider: PushProvider, access: MailAccess): Promise<void> {
    await bestEffort(endAtProvider(row, provider, access), row.accountId)
    await db.transaction((tx) => pushStore(tx).remove(row))
  }

  /** Keeps a Gmail watch, one per mailbox, while another account of the same address needs it. */
  async function endAtProvider(row: SubscriptionRow, provider: PushProvider, access: MailAccess): Promise<void> {
    if (row.provider === 'gmail') {
      const others = await accountQueries(db.read).at('gmail', [row.subscriptionId])
      if (others.some((id) => id !== row.accountId)) return
    }
    await provider.end(access, row.subscriptionId)
  }

  async function bestEffort(work: Promise<void>, accountId: string): Promise<void> {
    const late = () => new ProviderError('unavailable', 'ending the push subscription timed out', { timedOut: true })
    await withTimeout(work, END_MS, late).catch((error: unknown) => {
      log.info('Cannot end a push subscription at the provider; it expires there.', {
        accountId,
        operation: 'push.end',
        error,
      })
    })
  }

  return {
    ensure,
    /** Ends the subscription of a deleted account, best effort, in at most 10 s. `findToken` returns its access token until it is revoked. */
    async end(accountId: string, findToken: FindToken): Promise<void> {
      const row = await pushStore(db.read).find(accountId)
      if (row === undefined) return
      const provider = deps.channel(row.provider)?.provider
      if (provider !== undefined) await bestEffort(endForDeleted(row, provider, findToken), accountId)
      await db.transaction((tx) => pushStore(tx).remove(row))
    },
  }

  async function endForDeleted(row: SubscriptionRow, provider: PushProvider, findToken: FindToken): Promise<void> {
    const accessToken = await findToken()
    if (accessToken === undefined) return
    const access = { accountId: row.accountId, email: row.subscriptionId, settings: {}, secrets: {} }
    await endAtProvider(row, provider, { ...access, accessToken: async () => accessToken })
  }
}

type FindToken = () => Promise<string | undefined>

export type PushSubscriptions = ReturnType<typeof pushSubscriptions>
