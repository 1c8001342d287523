import type { Generated, Selectable } from 'kysely'
import type { Tables } from '../../platform/db/index.ts'

/** Credentials with which an application opens the mailboxes of an organisation. */
interface ConnectionTable {
  id: string
  provider: 'gmail' | 'microsoft'
  kind: 'tenant'
  name: string
  /** JSON of `TenantSettings`, without secrets. */
  settings: string
  /** JSON of `TenantSecrets`, sealed with context `connection:<id>`. */
  secrets: string
  /** Whether the provider accepted the credentials last. */
  status: 'connected' | 'auth_error'
  statusReason: string | null
  /** Incremented for each change of the credentials or the name. */
  version: Generated<number>
  createdAt: number
  updatedAt: number
}

/** Access tokens of connections. */
interface ConnectionTokenTable {
  /** The id of the connection, and of the mailbox or the directory that the token opens where each has its own. */
  id: string
  connectionId: string
  /** JSON of `StoredToken`, sealed with context `connectionToken:<id>`. Null until the first token was stored. */
  token: string | null
  /** When the token expires, in milliseconds; in a row without a token, when the lease ends. */
  expiresAt: number
  /** The run that requests the next token, and when its lease ends by the database's time. */
  lease: string | null
  leaseUntil: number | null
}

export type ConnectionRow = Selectable<Tables['connections']>
export type ConnectionTokenRow = Selectable<Tables['connectionTokens']>

declare module '../../platform/db/db.ts' {
  interface Tables {
    connections: ConnectionTable
    connectionTokens: ConnectionTokenTable
  }
}
