import { countMatching, type Handle, type Tx } from '../../platform/db/index.ts'
import type { PageRequest } from '../../platform/formats/pagination.ts'
import type { AuditRow } from './tables.ts'

interface AuditFilter {
  actor?: string | undefined
  action?: string | undefined
  target?: string | undefined
  sinceMs?: number | undefined
}

/** Rows of the audit log. */
export function auditStore(handle: Handle) {
  const matching = ({ actor, action, target, sinceMs }: AuditFilter) =>
    handle
      .selectFrom('auditEntries')
      .$if(actor !== undefined, (query) => query.where('actor', '=', actor ?? ''))
      .$if(action !== undefined, (query) => query.where('action', '=', action ?? ''))
      .$if(target !== undefined, (query) => query.where('target', '=', target ?? ''))
      .$if(sinceMs !== undefined, (query) => query.where('at', '>=', sinceMs ?? 0))

  return {
    async insert(row: AuditRow): Promise<void> {
      await handle.insertInto('auditEntries').values(row).execute()
    },

    /** Newest first, one more than `limit` when there are more. */
    list(
      filter: AuditFilter,
      { after, offset, limit }: PageRequest<readonly [at: number, id: string]>,
    ): Promise<AuditRow[]> {
      const [at, id] = after ?? [0, '']
      return matching(filter)
        .$if(after !== undefined, (query) =>
          query.where(({ eb, refTuple, tuple }) => eb(refTuple('at', 'id'), '<', tuple(at, id))),
        )
        .selectAll()
        .orderBy('at', 'desc')
        .orderBy('id', 'desc')
        .limit(limit + 1)
        .offset(offset)
        .execute()
    },

    count: (filter: AuditFilter) => countMatching(handle, matching(filter).select('id')),
  }
}

/** Deletes up to `limit` entries older than `beforeMs` and returns how many. */
export async function purgeAuditEntries(tx: Tx, beforeMs: number, limit: number): Promise<number> {
  const old = tx.selectFrom('auditEntries').select('id').where('at', '<', beforeMs).orderBy('at').limit(limit)
  const { numDeletedRows } = await tx.deleteFrom('auditEntries').where('id', 'in', old).executeTakeFirst()
  return Number(numDeletedRows)
}
