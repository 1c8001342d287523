import type { Db } from '../../platform/db/index.ts'
import type { AuditEntry, AuditLog } from '../../platform/http/index.ts'
import type { Ids } from '../../platform/ids.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { auditStore } from './store.ts'
import type { AuditRow } from './tables.ts'

/** Stores entries in the table. */
export function auditLog({ db, clock, ids }: { db: Db; clock: Clock; ids: Ids }): AuditLog {
  const toRow = ({ details, ...entry }: AuditEntry): AuditRow => ({
    id: ids('aud'),
    at: clock.now(),
    ...entry,
    details: JSON.stringify(details),
  })
  return {
    record: (tx, entry) => auditStore(tx).insert(toRow(entry)),
    recordAlone: (entry) => db.transaction((tx) => auditStore(tx).insert(toRow(entry))),
  }
}
