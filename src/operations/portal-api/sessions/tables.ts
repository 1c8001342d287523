import type { Selectable } from 'kysely'
import type { Tables } from '../../../platform/db/index.ts'

/** Sign-ins of the portal. */
interface AdminSessionsTable {
  /** HMAC of the token under user name, password and key ring: after a change of any, no token leads to the row. */
  id: string
  username: string
  createdAt: number
  /** At most a minute old while the session is in use. */
  usedAt: number
}

export type AdminSessionRow = Selectable<Tables['adminSessions']>

declare module '../../../platform/db/db.ts' {
  interface Tables {
    adminSessions: AdminSessionsTable
  }
}
