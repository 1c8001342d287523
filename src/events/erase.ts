import type { Tx } from '../infra/db/index.ts'

/**
 * Deletes up to `limit` events of a deleted account; answers how many went. The `account.deleted` event stays, for it is
 * still to be delivered and tells nothing about the person.
 */
export async function eraseEvents(tx: Tx, accountId: string, limit: number): Promise<number> {
  const rows = await tx
    .selectFrom('events')
    .select('id')
    .where('accountId', '=', accountId)
    .where('type', '!=', 'account.deleted')
    .limit(limit)
    .execute()
  if (rows.length === 0) {
    await tx.deleteFrom('eventSequences').where('accountId', '=', accountId).execute()
    return 0
  }
  await deleteEvents(
    tx,
    rows.map((row) => row.id),
  )
  return rows.length
}

/** What the account did so far and no fan-out has seen is stored, but told to nobody; `account.deleted` is. */
export async function silenceEvents(tx: Tx, accountId: string): Promise<void> {
  await tx
    .updateTable('events')
    .set({ fanOut: -1 })
    .where('accountId', '=', accountId)
    .where('position', 'is', null)
    .where('type', '!=', 'account.deleted')
    .execute()
}

/** Deletes up to `limit` events recorded before `beforeMs` that were handed on; true when there may be more. */
export async function purgeEvents(tx: Tx, beforeMs: number, limit: number): Promise<boolean> {
  const rows = await tx
    .selectFrom('events')
    .select('id')
    .where('createdAt', '<', beforeMs)
    .where('position', 'is not', null)
    .limit(limit)
    .execute()
  const ids = rows.map((row) => row.id)
  await deleteEvents(tx, ids)
  return ids.length === limit
}

async function deleteEvents(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  // The row's lock first, as the fan-out takes it before it stamps events: no two wait for each other.
  await countEvents(tx, 0)
  const deleted = await tx.deleteFrom('events').where('id', 'in', ids).returning('position').execute()
  await countEvents(tx, -deleted.filter((row) => row.position !== null).length)
}

async function countEvents(tx: Tx, change: number): Promise<void> {
  await tx
    .updateTable('eventPosition')
    .set((eb) => ({ total: eb('total', '+', change) }))
    .where('id', '=', 1)
    .execute()
}
