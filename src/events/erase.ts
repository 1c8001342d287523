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
  const ids = rows.map((row) => row.id)
  await tx.deleteFrom('events').where('id', 'in', ids).execute()
  return ids.length
}

/** What the account did so far and no fan-out has seen is stored, but delivered to nobody; `account.deleted` is. */
export async function silenceEvents(tx: Tx, accountId: string): Promise<void> {
  await tx
    .updateTable('events')
    .set({ fanOut: 0 })
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
  if (ids.length > 0) await tx.deleteFrom('events').where('id', 'in', ids).execute()
  return ids.length === limit
}
