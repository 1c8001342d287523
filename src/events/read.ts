import type { Handle } from '../infra/db/index.ts'
import type { EventRow } from './body.ts'

/** Events by id; those that are gone are missing. */
export async function findEvents(handle: Handle, ids: readonly string[]): Promise<Map<string, EventRow>> {
  if (ids.length === 0) return new Map()
  const rows = await handle.selectFrom('events').selectAll().where('id', 'in', ids).execute()
  return new Map(rows.map((row) => [row.id, row]))
}
