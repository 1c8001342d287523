import type { Dialect, Tx } from '../infra/db/index.ts'
import type { EventRow } from './body.ts'

/**
 * Claims the next events that no fan-out has seen and stamps them with a global `position`, in the order they were
 * recorded. By state, never by `id > last`: commits come out of order. The position row's lock makes this one at a time;
 * undefined means another replica is at it (and will not stop before the queue of events is empty).
 */
export async function stampEvents(tx: Tx, dialect: Dialect, limit: number): Promise<EventRow[] | undefined> {
  const counter = await tx
    .selectFrom('eventPosition')
    .select('position')
    .where('id', '=', 1)
    .modifyEnd(dialect.skipLocked)
    .executeTakeFirst()
  if (counter === undefined) return undefined
  const rows = await tx
    .selectFrom('events')
    .selectAll()
    .where('position', 'is', null)
    .orderBy('id')
    .limit(limit)
    .execute()
  if (rows.length === 0) return []
  let position = counter.position
  const stamped: EventRow[] = []
  for (const row of rows) {
    position += 1
    await tx.updateTable('events').set({ position }).where('id', '=', row.id).execute()
    stamped.push({ ...row, position })
  }
  await tx.updateTable('eventPosition').set({ position }).where('id', '=', 1).execute()
  return stamped
}
