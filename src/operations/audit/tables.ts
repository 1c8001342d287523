import type { Selectable } from 'kysely'
import type { Tables } from '../../platform/db/index.ts'

interface AuditEntriesTable {
  id: string
  at: number
  actor: string
  action: string
  target: string | null
  requestId: string | null
  address: string | null
  /** JSON. */
  details: string
}

export type AuditRow = Selectable<Tables['auditEntries']>

declare module '../../platform/db/db.ts' {
  interface Tables {
    auditEntries: AuditEntriesTable
  }
}
