import type { Db } from '../../infra/db/index.ts'
import type { Log } from '../../infra/log/index.ts'
import { withTimeout } from '../../lib/abort.ts'
import type { Clock } from '../../lib/clock.ts'
import { secretToken } from '../../lib/ids.ts'
import type { LoginProvider, PushProvider, PushSubscription, PushTarget } from '../../providers/contract/index.ts'
import { type MailAccess, ProviderError, type ProviderName } from '../../providers/contract/index.ts'
import { type Accounts, accountsAt, type Fence } from '../accounts/index.ts'
import { hashOf } from './client-state.ts'
import { pushStore, type SubscriptionRow } from './store.ts'

/** How one provider tells of changes. */
export interface PushWay {
  provider: PushProvider
  /** Undefined while there is nowhere to tell it. */
  target(): { kind: 'topic'; topicName: string } | { kind: 'webhook'; url: string; lifecycleUrl: string } | undefined
}

export interface SubscriberDeps {
  db: Db
  accounts: Pick<Accounts, 'get' | 'access'>
  fence: Fence
  way(provider: ProviderName): PushWay | undefined
  /** This process, which owns the account, should sync it: changes may have been missed. */
  syncNeeded(accountId: string): void
  login(provider: ProviderName): LoginProvider | undefined
  /** Of a deleted account, until it is revoked. */
  refreshTokenOfGone(accountId: string): Promise<string | undefined>
  clock: Clock
  log: Log
}

/** Google asks for a new watch once a day; for Graph a daily look finds what was removed without a word. */
const RENEW_MS = 24 * 60 * 60 * 1000
const END_MS = 10_000

/**
 * Keeps the standing orders of accounts at their providers. The order is made first and stored after: killed in between, it is an
 * orphan whose notices nobody knows and that ends by itself.
 */
export function subscriber(deps: SubscriberDeps) {
  const { db, accounts, clock, log } = deps

  /** Begins or renews what is due and answers how it stands; undefined: this account is not to be pushed. Throws `ProviderError`, not_found. */
  async function keep(accountId: string, epoch: number): Promise<SubscriptionRow | undefined> {
    const account = await accounts.get(accountId)
    if (account.paused || account.status === 'auth_error') return undefined
    const way = deps.way(account.provider)
    const target = way?.target()
    if (way === undefined || target === undefined) return undefined
    const row = await pushStore(db.read).find(accountId)
    if (!account.watch) {
      if (row !== undefined) await giveUp(row, way.provider, await accounts.access(accountId))
      return undefined
    }
    const place = target.kind === 'topic' ? target.topicName : target.url
    const isSame = row?.target === place
    if (isSame && row.renewAt > clock.now()) return row
    const access = await accounts.access(accountId)
    if (row !== undefined && !isSame) await giveUp(row, way.provider, access)
    const known = isSame && row.expiresAt > clock.now() ? row : undefined
    const kept = await renewed(way.provider, access, target, known)
    const isNew = known === undefined || kept.id !== known.subscriptionId
    const next: SubscriptionRow = {
      ...{ accountId, provider: account.provider, target: place },
      ...{ subscriptionId: kept.id, clientStateHash: kept.clientStateHash, expiresAt: kept.expiresAt },
      renewAt: renewAt(kept.expiresAt),
    }
    try {
      await store(next, epoch, isNew)
    } catch (error) {
      // Another owner begins one of its own. A watch of Gmail is one for the whole mailbox and stays.
      if (isNew && target.kind === 'webhook') await quietly(way.provider.end(access, kept.id), accountId)
      throw error
    }
    return next
  }

  async function renewed(
    provider: PushProvider,
    access: MailAccess,
    target: NonNullable<ReturnType<PushWay['target']>>,
    known: SubscriptionRow | undefined,
  ): Promise<PushSubscription & { clientStateHash: string | null }> {
    const clientState = secretToken()
    const asked: PushTarget = target.kind === 'topic' ? target : { ...target, clientState }
    if (known !== undefined) {
      try {
        const { clientStateHash } = known
        return { ...(await provider.renew(access, known.subscriptionId, asked)), clientStateHash }
      } catch (error) {
        if (!(error instanceof ProviderError) || error.kind !== 'not_found') throw error
      }
    }
    const clientStateHash = target.kind === 'topic' ? null : hashOf(clientState)
    return { ...(await provider.begin(access, asked)), clientStateHash }
  }

  /** One that is new may have missed what happened before it was stored, so its account is looked at. */
  async function store(row: SubscriptionRow, epoch: number, isNew: boolean): Promise<void> {
    await db.transaction(async (tx) => {
      await deps.fence(tx, row.accountId, epoch)
      await pushStore(tx).save(row)
      // In memory: the next owner of an account syncs it anyway.
      if (isNew) tx.afterCommit(() => deps.syncNeeded(row.accountId))
    })
  }

  /** Half of what is left at most, and not all of a thousand accounts in the same minute. */
  function renewAt(expiresAt: number): number {
    const now = clock.now()
    return Math.round(now + Math.min(RENEW_MS, (expiresAt - now) / 2) * (0.9 + 0.1 * Math.random()))
  }

  async function giveUp(row: SubscriptionRow, provider: PushProvider, access: MailAccess): Promise<void> {
    await quietly(stop(row, provider, access), row.accountId)
    await db.transaction((tx) => pushStore(tx).remove(row))
  }

  /** The watch of Gmail is one per mailbox: other accounts of the same address go on needing it. */
  async function stop(row: SubscriptionRow, provider: PushProvider, access: MailAccess): Promise<void> {
    if (row.provider === 'gmail') {
      const others = await accountsAt(db.read, 'gmail', [row.subscriptionId])
      if (others.some((id) => id !== row.accountId)) return
    }
    await provider.end(access, row.subscriptionId)
  }

  async function quietly(work: Promise<void>, accountId: string): Promise<void> {
    const late = () => new ProviderError('unavailable', 'ending a subscription: no answer in time', { timedOut: true })
    await withTimeout(work, END_MS, late).catch((error: unknown) => {
      log.info('A subscription could not be ended; it runs out by itself', {
        ...{ accountId, operation: 'push.end', error },
      })
    })
  }

  return {
    keep,
    /** Ends the order of a deleted account; best effort, some seconds at most. May repeat. */
    async forget(accountId: string): Promise<void> {
      const row = await pushStore(db.read).find(accountId)
      if (row === undefined) return
      const provider = deps.way(row.provider)?.provider
      const login = deps.login(row.provider)
      if (provider !== undefined && login !== undefined) {
        await quietly(endGone(row, provider, login), accountId)
      }
      await db.transaction((tx) => pushStore(tx).remove(row))
    },
  }

  async function endGone(row: SubscriptionRow, provider: PushProvider, login: LoginProvider): Promise<void> {
    const refreshToken = await deps.refreshTokenOfGone(row.accountId)
    if (refreshToken === undefined) return
    const { accessToken } = await login.refresh(refreshToken)
    const access = { accountId: row.accountId, email: row.subscriptionId, settings: {}, secrets: {} }
    await stop(row, provider, { ...access, accessToken: async () => accessToken })
  }
}

export type Subscriber = ReturnType<typeof subscriber>
