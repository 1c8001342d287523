/** Columns of `accounts`. Booleans are 0 or 1, times milliseconds, JSON text. */
interface AccountTable {
  id: string
  email: string
  provider: 'gmail' | 'microsoft' | 'imap'
  status: 'connecting' | 'syncing' | 'connected' | 'auth_error' | 'error' | 'paused'
  /** What went wrong, for people; null when nothing did. */
  statusReason: string | null
  paused: number
  /** 0: no standing connection, polled every 60 s. */
  watch: number
  customUserId: string | null
  /** Hash of (provider, the user at the provider, customUserId); unique. */
  identity: string
  /** JSON of MailSettings: where and how to connect, no secrets. */
  settings: string
  /** MailSecrets as JSON, sealed with context `account:<id>`. */
  secrets: string
  /** JSON of `{expiresAt, scopes, hasRefreshToken}`. */
  tokens: string
  lastSyncAt: number | null
  ownerInstance: string | null
  /** Counts the owners; every sync transaction checks it. */
  epoch: number
  /** +1 per change that the API shows; the `version` of its events. */
  version: number
  createdAt: number
  updatedAt: number
}

/** One row per running process; its heartbeat is the database's own time. */
interface InstanceTable {
  id: string
  heartbeatAt: number
  startedAt: number
}

declare module '../../infra/db/db.ts' {
  interface Tables {
    accounts: AccountTable
    instances: InstanceTable
  }
}
