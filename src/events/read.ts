import { type SqlBool, sql } from 'kysely'
import type { Handle } from '../infra/db/index.ts'
import type { EventRow } from './event.ts'

/** Events by id; those that are gone are missing. */
export async function findEvents(handle: Handle, ids: readonly string[]): Promise<Map<string, EventRow>> {
  if (ids.length === 0) return new Map()
  const rows = await handle.selectFrom('events').selectAll().where('id', 'in', ids).execute()
  return new Map(rows.map((row) => [row.id, row]))
}

/** Events recorded from `sinceMs` on and before `untilMs`, behind `after` when given. */
export interface EventRange {
  sinceMs: number
  untilMs: number
  after: { createdAt: number; id: string } | undefined
}

/** Up to `limit` events of the range that were fanned out, oldest first, without their data. */
export function listFannedOut(
  handle: Handle,
  range: EventRange,
  limit: number,
): Promise<Pick<EventRow, 'id' | 'type' | 'accountId' | 'createdAt'>[]> {
  const { createdAt, id } = range.after ?? { createdAt: range.sinceMs, id: '' }
  return handle
    .selectFrom('events')
    .select(['id', 'type', 'accountId', 'createdAt'])
    .where(sql<SqlBool>`("createdAt", "id") > (${createdAt}, ${id})`)
    .where('createdAt', '<', range.untilMs)
    .where('position', 'is not', null)
    .where('fanOut', '=', 1)
    .orderBy('createdAt')
    .orderBy('id')
    .limit(limit)
    .execute()
}
