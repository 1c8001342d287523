import type { Selectable } from 'kysely'
import type { Tables } from '../../platform/db/index.ts'
import type { Scope } from '../../platform/http/index.ts'

/** API keys that were created over the API. The key itself is not stored. */
interface ApiKeysTable {
  id: string
  /** SHA-256 of the key, in base64url. */
  keyHash: string
  name: string
  /** The widest scope, which includes the narrower ones. */
  scope: Scope
  /** The last characters of the key. */
  hint: string
  /** The caller that created it. */
  createdBy: string
  createdAt: number
  /** Null: never. */
  expiresAt: number | null
  /** At most a minute old while the key is in use. */
  lastUsedAt: number | null
}

export type ApiKeyRow = Selectable<Tables['apiKeys']>

declare module '../../platform/db/db.ts' {
  interface Tables {
    apiKeys: ApiKeysTable
  }
}
