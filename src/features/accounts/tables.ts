import type { Generated } from 'kysely'

/** Columns of `accounts`. Booleans are 0 or 1, times milliseconds, JSON text. */
interface AccountTable {
  id: string
  email: string
  provider: 'gmail' | 'microsoft' | 'imap'
  /** How the work goes; a paused account keeps it underneath. */
  status: 'connecting' | 'syncing' | 'connected' | 'auth_error' | 'error'
  /** What went wrong, for people; null when nothing did. */
  statusReason: string | null
  paused: number
  /** 0: no standing connection, polled every 60 s. */
  watch: number
  customUserId: string | null
  /** The user at the provider: its user id, or host, username and mailbox as JSON. */
  providerUser: string
  /** Hash of (provider, providerUser, customUserId); unique. */
  identity: string
  /** JSON of MailSettings: where and how to connect, no secrets. */
  settings: string
  /** `AccountSecrets` as JSON, sealed with context `account:<id>`. */
  secrets: string
  /** JSON of `{expiresAt, scopes, hasRefreshToken}`. */
  tokens: string
  /** Who refreshes the tokens now, and until when at most, by the database's time. */
  tokenLease: Generated<string | null>
  tokenLeaseUntil: Generated<number | null>
  /** +1 when settings or secrets are given anew: a session opened with older ones must be opened again. Refreshed tokens do not count. */
  accessVersion: Generated<number>
  /** The trouble that was announced by an event and has not been followed by `account.recovered`. */
  trouble: 'auth_error' | 'error' | null
  lastSyncAt: number | null
  /** When a sync was last requested; null when none is outstanding. Grows with every request, so no two share a value. */
  syncRequestedAt: Generated<number | null>
  /** Accounts with the same mail host share its limits: `gmail`, `microsoft`, or `host:port`. */
  mailHost: Generated<string>
  ownerInstance: string | null
  /** Counts the owners; every sync transaction checks it. */
  epoch: Generated<number>
  /** +1 per change that the API shows (but for `lastSyncAt`); the `version` of its events. */
  version: Generated<number>
  createdAt: number
  updatedAt: number
}

/**
 * Accounts that were deleted and whose data is still being erased. The account's own row is gone at once, so nothing can
 * be read, synced or written for it; this row makes the erasure survive the process.
 */
interface AccountErasureTable {
  accountId: string
  requestedAt: number
  /** What is still to be revoked at the provider, sealed with context `revocation:<account id>`. */
  revocation: Generated<string | null>
}

/** One row per running process; its heartbeat is the database's own time. */
interface InstanceTable {
  id: string
  heartbeatAt: number
  startedAt: number
  /** JSON of the `RunTotals` of its sync scheduler, as of the last heartbeat. */
  syncTotals: Generated<string | null>
}

declare module '../../infra/db/db.ts' {
  interface Tables {
    accounts: AccountTable
    accountErasures: AccountErasureTable
    instances: InstanceTable
  }
}
