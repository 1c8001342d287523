import type { Tx } from '../platform/db/index.ts'

/**
 * Deletes up to `limit` events of a deleted account and returns how many it deleted. The `account.deleted` event stays: it may
 * not have been delivered yet, and it holds no personal data.
 */
export async function eraseEvents(tx: Tx, accountId: string, limit: number): Promise<number> {
  const ofAccount = tx
    .selectFrom('events')
    .select('id')
    .where('accountId', '=', accountId)
    .where('type', '!=', 'account.deleted')
    .limit(limit)
  // Each has an index of its own. Few are without a position.
  const stamped = await ofAccount.where('position', '>', 0).execute()
  const rows = stamped.length > 0 ? stamped : await ofAccount.where('position', 'is', null).execute()
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

/** Withholds events in the transaction that stamps them: they are never delivered or listed. */
export async function withholdEvents(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await tx.updateTable('events').set({ fanOut: -1 }).where('id', 'in', ids).execute()
}

/** Deletes up to `limit` fanned-out events recorded before `beforeMs`. Returns how many. */
export async function purgeEvents(tx: Tx, beforeMs: number, limit: number): Promise<number> {
  const rows = await tx
    .selectFrom('events')
    .select('id')
    .where('createdAt', '<', beforeMs)
    .where('position', 'is not', null)
    .limit(limit)
    .execute()
  const ids = rows.map((row) => row.id)
  await deleteEvents(tx, ids)
  return ids.length
}

async function deleteEvents(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  // Locks the counter row first, as the fan-out does before it stamps events, so that the two cannot deadlock.
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
