import type { Handle, Tx } from '../../platform/db/index.ts'
import type { Page, PageQuery } from '../../platform/formats/pagination.ts'
import type { RunTotals } from '../../platform/schedule/index.ts'
import type { MailAccess, MailSecrets, MailSettings, ProviderName, TokenSet } from '../../providers/contract/index.ts'

/** The sync status of an account. `paused` is a separate flag, set by the application. */
export type WorkStatus = 'connecting' | 'syncing' | 'connected' | 'auth_error' | 'error'

export type AccountStatus = WorkStatus | 'paused'

export interface TokenSummary {
  expiresAt: string | null
  scopes: string[]
  hasRefreshToken: boolean
}

/** Which accounts a list shows. Absent: all. */
export interface AccountFilter {
  /** A part of the address or the customUserId, in any case, or the id. */
  q?: string | undefined
  status?: AccountStatus | undefined
  provider?: ProviderName | undefined
  connectionId?: string | undefined
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
  /** The connection whose tokens open the mailbox. Null: the account has tokens, or a password, of its own. */
  connectionId: string | null
  /** imap: the label ids of the folders to sync besides the main one. Null: the default. */
  folders: string[] | null
  /** The account whose user opens this shared mailbox. Null: not shared. */
  sharedWith: string | null
  lastSyncAt: string | null
  tokens: TokenSummary
  createdAt: string
  updatedAt: string
}

/**
 * A requested sync covers the changes that the provider reports, or the entire mailbox. `now`: the entire mailbox, at once, because a
 * person asked for it: over a new connection, and whatever pause the provider asked for. If its hint is lost, it waits for the pause.
 */
export type SyncScope = 'changes' | 'everything' | 'now'

/** The input of linking, from the hosted pages, `POST /accounts` or an OAuth callback. */
export interface LinkAccount {
  provider: ProviderName
  email: string
  customUserId: string | null
  /** The user at the provider: its user id, or host, username and mailbox. Part of the identity, with provider and customUserId. */
  providerUser: string
  /** An account with this one in its place becomes that of `providerUser`. */
  formerUser?: string
  settings: MailSettings
  secrets: MailSecrets
  /** For OAuth providers. Without a refresh token, the stored one is kept. Throws `RefreshTokenMissing` when there is none. */
  tokens?: TokenSet
  /** In place of tokens: the connection whose tokens open the mailbox. Throws not_found when it was deleted. */
  connectionId?: string
  /** In place of tokens: the account whose tokens open the mailbox. Throws not_found when it was deleted. */
  sharedWith?: string
  /** A new account begins paused. */
  paused?: boolean
}

/** A connected mailbox as a sign-in recognises it. */
export interface LinkedMailbox {
  accountId: string
  provider: ProviderName
  email: string
  /** As in `LinkAccount`. */
  providerUser: string
  settings: MailSettings
  /** Granted at the provider. Empty for imap. */
  scopes: readonly string[]
  /** Which parts have a password of their own. */
  ownPasswords: { smtp: boolean; caldav: boolean }
}

export interface AccountChanges {
  paused?: boolean
  customUserId?: string | null
  watch?: boolean
  /** Ids of labels of the account, each once. */
  folders?: string[] | null
}

/**
 * Accounts, for the other features. Every change records its event in the same transaction. `access`, `get` and `list` use
 * their own connection: do not call them inside a transaction, which could exhaust the connection pool.
 */
export interface Accounts {
  /**
   * Creates the account, or updates the one with the same identity (new credentials, status back to `connecting`).
   * Records `account.connected` or `account.updated`. Throws `licence_limit`, and `RefreshTokenMissing`.
   */
  link(tx: Tx, input: LinkAccount): Promise<Account>
  /**
   * Sets the status and why. Records `account.auth_error` when it becomes auth_error, `account.sync_stalled` when it
   * becomes error, and `account.recovered` when it is connected again after either; nothing while the status stays the
   * same. With `accessVersion`, does nothing if those credentials were replaced meanwhile. Throws not_found.
   */
  setStatus(tx: Tx, accountId: string, status: WorkStatus, reason: string | null, accessVersion?: number): Promise<void>
  /**
   * No check of the account succeeded in time: sets the status `error` and records `account.sync_stalled`. Of an
   * account that has this status already, only the reason changes. Does nothing while it is paused, and when its credentials were
   * refused. Throws not_found.
   */
  markStalled(tx: Tx, accountId: string, reason: string): Promise<void>
  /** After a successful sync: sets `lastSyncAt` to now. No event and no new version. */
  synced(tx: Tx, accountId: string): Promise<void>
  /**
   * Makes the owners of these accounts sync them, in whichever process. Durable with the commit; the owners are notified
   * after it, and find a request whose hint was lost within one ownership round. Unknown accounts are ignored.
   */
  requestSync(tx: Tx, accountIds: readonly string[], scope: SyncScope): Promise<void>
  /** Clears the request, unless a newer one was made since `requestedAt` was read. */
  clearSyncRequest(tx: Tx, accountId: string, requestedAt: number): Promise<void>
  /** Applies the changes: `account.updated`, `account.paused`, `account.resumed`. Throws not_found, and conflict for a duplicate identity. */
  change(tx: Tx, accountId: string, changes: AccountChanges): Promise<Account>
  /** Allows one more attempt for an account whose credentials were rejected, as resuming does. Throws not_found. */
  tryAgain(tx: Tx, accountId: string): Promise<Account>
  /**
   * Deletes the account and records `account.deleted`. The erasure deletes its data afterwards. Throws not_found, and conflict while
   * shared mailboxes are opened with its tokens.
   */
  remove(tx: Tx, accountId: string): Promise<void>
  /**
   * Prevents the deletion of the account until the transaction ends. Throws not_found. Call it first in every transaction
   * that writes rows of an account outside sync (which has the fence), or the rows might outlive the erasure and lists kept in
   * memory might stay as they were.
   */
  hold(tx: Tx, accountId: string): Promise<void>
  /** Settings, decrypted passwords and access tokens for the providers, with their `accessVersion`. Throws not_found. */
  access(accountId: string): Promise<MailAccess & { accessVersion: number }>
  /** Lets this process request tokens again at once, although the token endpoint asked for a pause. */
  endTokenPause(account: Pick<Account, 'id' | 'connectionId' | 'sharedWith' | 'provider' | 'email'>): void
  get(accountId: string): Promise<Account>
  /** The account at the start of a sync run. `syncRequestedAt` is null when no sync was requested. Throws not_found. */
  getForSync(accountId: string): Promise<{ account: Account; syncRequestedAt: number | null }>
  /** The accounts that a sign-in with this customUserId would update, if it is as this address (null: any); at most 20. */
  findLinked(provider: ProviderName, customUserId: string | null, email: string | null): Promise<Account[]>
  /** The mailboxes with this customUserId (null: without one) and this address, in any case; at most 20. */
  findMailboxes(customUserId: string | null, email: string): Promise<LinkedMailbox[]>
  /** Newest first. */
  list(query: PageQuery & AccountFilter): Promise<Page<Account>>
  /** An id, or a customUserId that exactly one account has. Throws not_found, or ambiguous_alias naming the ids. */
  resolve(handle: Handle, idOrAlias: string): Promise<{ id: string; provider: ProviderName }>
}

/** The provider returned no refresh token (Google does so without a new consent), and no valid one is stored. */
export class RefreshTokenMissing extends Error {
  override name = 'RefreshTokenMissing'
}

/** Throws licence_limit unless one more account is allowed. `count` runs under a lock until the transaction ends. */
export interface LicenceCheck {
  check(tx: Tx, count: () => Promise<number>): Promise<void>
}

/** Totals that an instance reports with each heartbeat about the accounts that it owns. */
export interface SyncTotals extends RunTotals {
  /** How long the check of an account is overdue, at most. */
  greatestLagMs: number
}

export interface OwnershipChange {
  /** Handle `lost` before `gained`: an account that was lost and taken again, under a new epoch, is in both. */
  lost: string[]
  gained: string[]
  /** Owned accounts that were paused or resumed, or got another `watch` or new credentials. */
  changed: string[]
}

/** The accounts that this process owns. */
export interface Ownership {
  readonly instanceId: string
  /** The owned accounts, with their epochs. */
  owned(): ReadonlyMap<string, number>
  /**
   * Called after accounts were gained, lost or changed. The listeners open, close or reopen sessions. Paused and
   * auth_error accounts are owned too; the listener decides what to do with them.
   */
  onChange(listener: (change: OwnershipChange) => void): void
  /** The mail host whose limits the account shares. Empty for an account that is not owned. */
  mailHost(accountId: string): string
  /** As of the last round, or the account's last change here. */
  isPaused(accountId: string): boolean
  /** Called after each round, every 5 s, to catch up on lost hints. */
  onRound(listener: () => void): void
  /** The heartbeat stores what `read` returns, so that every replica can sum up the totals of all. */
  reportSyncTotals(read: () => SyncTotals): void
  /** The error of the last heartbeat. Undefined when it was written. */
  beatFailure(): unknown
  /** The number of accounts that no living instance owned after the last round of this one, 2,000 or more if there are many. */
  unowned(): number
  /** Registers this process and takes the first unowned accounts. A round that follows soon takes the others, then one runs every 5 s. */
  start(): Promise<void>
  /**
   * Takes a new account for this process without waiting for a round, unless another one owns it. Notices changes of an owned one. Does
   * nothing before `start`. Never throws: a round takes the account later.
   */
  claim(accountId: string): Promise<void>
  /** Releases every account, so that other processes take over at once. */
  stop(): Promise<void>
}

/**
 * Part of every sync transaction: updates the account's row if the epoch is unchanged, so a takeover waits for the
 * transaction, or the transaction fails. Increments `dataVersion`. Throws `OwnershipLost`, which rolls it back.
 */
export type Fence = (tx: Tx, accountId: string, epoch: number) => Promise<void>

export class OwnershipLost extends Error {
  override name = 'OwnershipLost'
}

/** The bus topic for new, changed and deleted accounts. The payload is the account id. */
export const ACCOUNTS_TOPIC = 'accounts'
