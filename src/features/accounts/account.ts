import type { Handle, Tx } from '../../infra/db/index.ts'
import type { MailAccess, MailSecrets, MailSettings, ProviderName } from '../../providers/provider.ts'

export type AccountStatus = 'connecting' | 'syncing' | 'connected' | 'auth_error' | 'error' | 'paused'

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
  tokens: { expiresAt: string | null; scopes: string[]; hasRefreshToken: boolean }
  createdAt: string
  updatedAt: string
}

/** What linking needs: from the hosted pages, `POST /accounts`, or an OAuth callback. */
export interface LinkAccount {
  provider: ProviderName
  email: string
  customUserId: string | null
  /** The user at the provider: its user id, or host + username + mailbox. Makes the identity with provider and customUserId. */
  providerUser: string
  settings: MailSettings
  secrets: MailSecrets
}

/** The account's life, for the other rooms. Every change records its event in the same transaction. */
export interface Accounts {
  /**
   * Creates the account, or updates the one with the same identity (new credentials, status back to `connecting`).
   * Records `account.connected` or `account.updated`. Throws `licence_limit`.
   */
  link(tx: Tx, input: LinkAccount): Promise<Account>
  /**
   * Sets the status and why. Records `account.auth_error` when it becomes auth_error, `account.sync_stalled` when it
   * becomes error, `account.recovered` when it leaves either for connected; nothing when it stays as it is.
   */
  setStatus(tx: Tx, accountId: string, status: AccountStatus, reason: string | null): Promise<void>
  /** Settings and opened secrets, for the providers. Throws not_found. */
  access(accountId: string): Promise<MailAccess>
  get(accountId: string): Promise<Account>
  /** An id, or a customUserId that exactly one account has. Throws not_found, or ambiguous_alias naming the ids. */
  resolve(handle: Handle, idOrAlias: string): Promise<{ id: string; provider: ProviderName }>
}

/** Which accounts this process works on. */
export interface Ownership {
  readonly instanceId: string
  /** Accounts owned now, with the epoch under which they are. */
  owned(): ReadonlyMap<string, number>
  /**
   * Called after accounts were gained or lost, each with its epoch; whoever listens opens or closes sessions.
   * Paused and auth_error accounts are owned too: the listener decides what to do with them.
   */
  onChange(listener: (change: { gained: string[]; lost: string[] }) => void): void
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
