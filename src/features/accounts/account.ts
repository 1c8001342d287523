import type { Handle, Tx } from '../../infra/db/index.ts'
import type { Page, PageQuery } from '../../lib/page.ts'
import type { MailAccess, MailSecrets, MailSettings, ProviderName, TokenSet } from '../../providers/contract/index.ts'
import type { RunTotals } from './scheduler/owned-scheduler.ts'

/** How the work on an account goes. `paused` is not among them: it is a wish of the operator, kept beside. */
export type WorkStatus = 'connecting' | 'syncing' | 'connected' | 'auth_error' | 'error'

export type AccountStatus = WorkStatus | 'paused'

export interface TokenSummary {
  expiresAt: string | null
  scopes: string[]
  hasRefreshToken: boolean
}

/** An account as the API shows it. */
export interface Account {
  id: string
  email: string
  provider: ProviderName
  paused: boolean
  status: AccountStatus
  statusReason: string | null
  watch: boolean
  customUserId: string | null
  lastSyncAt: string | null
  tokens: TokenSummary
  createdAt: string
  updatedAt: string
}

/** What a requested sync has to check: what the provider says has changed, or the whole mailbox. */
export type SyncScope = 'changes' | 'everything'

/** What linking needs: from the hosted pages, `POST /accounts`, or an OAuth callback. */
export interface LinkAccount {
  provider: ProviderName
  email: string
  customUserId: string | null
  /** The user at the provider: its user id, or host + username + mailbox. Makes the identity with provider and customUserId. */
  providerUser: string
  settings: MailSettings
  secrets: MailSecrets
  /** For OAuth providers. Without a refresh token the one that is stored stays in use; throws `RefreshTokenMissing` when there is none. */
  tokens?: TokenSet
}

export interface AccountChanges {
  paused?: boolean
  customUserId?: string | null
  watch?: boolean
}

/**
 * The account's life, for the other rooms. Every change records its event in the same transaction. `access`, `get` and `list` read
 * on a connection of their own: not inside a transaction, where they would wait for one while holding one.
 */
export interface Accounts {
  /**
   * Creates the account, or updates the one with the same identity (new credentials, status back to `connecting`).
   * Records `account.connected` or `account.updated`. Throws `licence_limit`, and `RefreshTokenMissing`.
   */
  link(tx: Tx, input: LinkAccount): Promise<Account>
  /**
   * Sets the status and why. Records `account.auth_error` when it becomes auth_error, `account.sync_stalled` when it
   * becomes error, and `account.recovered` when it is connected again after either, whatever came between; nothing
   * while the trouble stays the same. With `accessVersion` it is about those credentials: when they have been replaced
   * meanwhile, nothing is set. Throws not_found.
   */
  setStatus(tx: Tx, accountId: string, status: WorkStatus, reason: string | null, accessVersion?: number): Promise<void>
  /** A pass ended well: sets `lastSyncAt` to now. No event and no new version. */
  synced(tx: Tx, accountId: string): Promise<void>
  /**
   * Has the owners of these accounts sync them, whichever processes those are. Durable with the commit; the owners are notified
   * after it, and find a request whose notification was lost within one round of ownership. Unknown accounts are ignored.
   */
  requestSync(tx: Tx, accountIds: readonly string[], scope: SyncScope): Promise<void>
  /** Ends the request, unless another one was made since `requestedAt` was read. */
  clearSyncRequest(tx: Tx, accountId: string, requestedAt: number): Promise<void>
  /** Applies what differs: `account.updated`, `account.paused`, `account.resumed`. Throws not_found, and conflict when two identities would be equal. */
  change(tx: Tx, accountId: string, changes: AccountChanges): Promise<Account>
  /** Lets an account whose credentials were refused be tried once more; resuming does so too. Throws not_found. */
  tryAgain(tx: Tx, accountId: string): Promise<Account>
  /** Deletes the account, records `account.deleted`, and leaves its data to the erasure. Throws not_found. */
  remove(tx: Tx, accountId: string): Promise<void>
  /**
   * Keeps the account from being deleted until the transaction ends; throws not_found when it is gone. Whatever writes
   * rows of an account outside of sync (which has the fence) begins with this, or rows might outlive the erasure.
   */
  hold(tx: Tx, accountId: string): Promise<void>
  /** Settings, opened passwords and the way to access tokens, for the providers, with the `accessVersion` they belong to. Throws not_found. */
  access(accountId: string): Promise<MailAccess & { accessVersion: number }>
  get(accountId: string): Promise<Account>
  /** What a sync run begins with; `syncRequestedAt` is null when no sync was requested. Throws not_found. */
  getForSync(accountId: string): Promise<{ account: Account; syncRequestedAt: number | null }>
  /** Newest first. */
  list(query: PageQuery): Promise<Page<Account>>
  /** An id, or a customUserId that exactly one account has. Throws not_found, or ambiguous_alias naming the ids. */
  resolve(handle: Handle, idOrAlias: string): Promise<{ id: string; provider: ProviderName }>
}

/** The provider gave no refresh token, as Google does unless consent is asked for again, and none is stored that works. */
export class RefreshTokenMissing extends Error {
  override name = 'RefreshTokenMissing'
}

/** May one more account exist? `count` is asked under a lock that holds until the transaction ends. Throws licence_limit. */
export interface LicenceCheck {
  check(tx: Tx, count: () => Promise<number>): Promise<void>
}

export interface OwnershipChange {
  /** Lost is told before gained: an account lost and taken again (its epoch grew) is in both. */
  lost: string[]
  gained: string[]
  /** Still owned, but paused, resumed, watched otherwise, or given new credentials. */
  changed: string[]
}

/** Which accounts this process works on. */
export interface Ownership {
  readonly instanceId: string
  /** Accounts owned now, with the epoch under which they are. */
  owned(): ReadonlyMap<string, number>
  /**
   * Called after accounts were gained, lost or changed; whoever listens opens, closes or reopens sessions.
   * Paused and auth_error accounts are owned too: the listener decides what to do with them.
   */
  onChange(listener: (change: OwnershipChange) => void): void
  /** The host whose limits the account shares; empty for an account that is not owned. */
  mailHost(accountId: string): string
  /** Called after each round, every 5 s: the time to read what a lost notification would have said. */
  onRound(listener: () => void): void
  /** The heartbeat stores what `read` returns, so that every replica can add up the totals of all. */
  reportSyncTotals(read: () => RunTotals): void
  /** Why the last heartbeat of this process could not be written; undefined while it beats. */
  beatFailure(): unknown
  /** Registers this process, takes what is free, and goes on so every 5 s. */
  start(): Promise<void>
  /** Gives everything back, so that others take over at once. */
  stop(): Promise<void>
}

/**
 * Every sync transaction contains this: it updates the account's row where the epoch still holds, so a take-over waits for the
 * transaction or the transaction fails. Throws `OwnershipLost` (the transaction rolls back).
 */
export type Fence = (tx: Tx, accountId: string, epoch: number) => Promise<void>

export class OwnershipLost extends Error {
  override name = 'OwnershipLost'
}

/** The bus topic on which a new, changed or deleted account is announced; the payload is its id. */
export const ACCOUNTS_TOPIC = 'accounts'
