import type { Generated } from 'kysely'
import type { ProviderName } from '../providers/contract/index.ts'

/** Columns of `accounts`. Booleans are 0 or 1, times milliseconds, JSON text. */
interface AccountTable {
  id: string
  email: string
  provider: ProviderName
  /** The state of its sync. Pausing does not change it. */
  status: 'connecting' | 'syncing' | 'connected' | 'auth_error' | 'error'
  /** Human-readable; null without a problem. */
  statusReason: string | null
  paused: number
  /** 0: sync opens no permanent connection and polls every 60 s. */
  watch: number
  customUserId: string | null
  /** imap: the label ids of the folders to sync besides the main one, as JSON. Null: the default. */
  folders: Generated<string | null>
  /** The text that `GET /accounts?q=` searches: the address and `customUserId`, in lower case. */
  searchText: Generated<string>
  /** The user at the provider: its user id, or host, username and mailbox as JSON. */
  providerUser: string
  /** Hash of (provider, providerUser, customUserId); unique. */
  identity: string
  /** JSON of MailSettings: where and how to connect, no secrets. */
  settings: string
  /** `AccountSecrets` as JSON, sealed with context `account:<id>`. */
  secrets: string
  /** The connection whose tokens open the mailbox. Null: the account has its own. */
  connectionId: Generated<string | null>
  /** The account whose tokens open the mailbox, which somebody shares with its user. Null: not shared. */
  sharedWith: Generated<string | null>
  /** JSON of `{expiresAt, scopes, hasRefreshToken}`. */
  tokens: string
  /** The process that refreshes the tokens, and when its lease ends by the database's time. */
  tokenLease: Generated<string | null>
  tokenLeaseUntil: Generated<number | null>
  /** Incremented when settings or secrets are replaced, which reopens connections. Refreshing a token does not change it. */
  accessVersion: Generated<number>
  /** The last error that an event reported, until `account.recovered`. */
  trouble: 'auth_error' | 'error' | null
  lastSyncAt: number | null
  /** When a sync was last requested; null when no request is pending. Every request has a greater value. */
  syncRequestedAt: Generated<number | null>
  /** Accounts with the same mail host share its limits: `gmail`, `microsoft`, or `host:port`. */
  mailHost: Generated<string>
  ownerInstance: string | null
  /** Incremented for each new owner. Every sync transaction checks it. */
  epoch: Generated<number>
  /** Incremented by every transaction that may change stored messages or labels: `fence` and `hold` do it. */
  dataVersion: Generated<number>
  /** Incremented for each change that the API shows, except `lastSyncAt`; the `version` of its events. */
  version: Generated<number>
  createdAt: number
  updatedAt: number
}

/**
 * Deleted accounts whose data is still being erased. The account's own row is deleted first, which stops every read, sync
 * and write; this row stops deliveries and lets another process continue the erasure.
 */
interface AccountErasureTable {
  accountId: string
  requestedAt: number
  /** The tokens to revoke at the provider, sealed with context `revocation:<account id>`. */
  revocation: Generated<string | null>
}

/** One row per running process; its heartbeat is the database's own time. */
interface InstanceTable {
  id: string
  heartbeatAt: number
  startedAt: number
  /** JSON of its `SyncTotals`, as of the last heartbeat. */
  syncTotals: Generated<string | null>
  /** The key of its lock. Null while it holds none: then only its heartbeat shows that it lives. */
  lockKey: Generated<string | null>
  /** How many accounts it owns. Null for an instance of a version that does not write it: then its rows are counted. */
  ownedAccounts: Generated<number | null>
}

/**
 * The changes of an account's mailbox made through the API, numbered from 1. Each field is the number of the latest change of its
 * kind; 0: none yet.
 */
interface ApiChangeTable {
  accountId: string
  latest: number
  /** A message was deleted for good. */
  latestDeletion: number
  /** A label or folder was created, renamed or deleted. */
  latestFolder: number
  /** 1: the next list of the labels reads them from the provider first. */
  labelsCleared: Generated<number>
}

declare module '../platform/db/db.ts' {
  interface Tables {
    accounts: AccountTable
    accountErasures: AccountErasureTable
    apiChanges: ApiChangeTable
    instances: InstanceTable
  }
}
