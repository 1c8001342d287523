import type { Db } from '../../infra/db/index.ts'
import type { AuditEntry, AuditLog } from '../../infra/http/index.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Ids } from '../../lib/ids.ts'
import { auditStore } from './store.ts'
import type { AuditRow } from './tables.ts'

/** Stores entries in the table. */
export function auditLog({ db, clock, ids }: { db: Db; clock: Clock; ids: Ids }): AuditLog {
  const rowOf = ({ details, ...entry }: AuditEntry): AuditRow => ({
    id: ids('aud'),
    at: clock.now(),
    ...entry,
    details: JSON.stringify(details),
  })
  return {
    record: (tx, entry) => auditStore(tx).insert(rowOf(entry)),
    recordAlone: (entry) => db.transaction((tx) => auditStore(tx).insert(rowOf(entry))),
  }
}
