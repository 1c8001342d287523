import type { Tx } from '../infra/db/index.ts'

/**
 * Deletes up to `limit` events of a deleted account; true when there may be more. The `account.deleted` event stays, for it is
 * still to be delivered and tells nothing about the person.
 */
export async function eraseEvents(tx: Tx, accountId: string, limit: number): Promise<boolean> {
  const rows = await tx
    .selectFrom('events')
    .select('id')
    .where('accountId', '=', accountId)
    .where('type', '!=', 'account.deleted')
    .limit(limit)
    .execute()
  if (rows.length === 0) {
    await tx.deleteFrom('eventSequences').where('accountId', '=', accountId).execute()
    return false
  }
  const ids = rows.map((row) => row.id)
  await tx.deleteFrom('events').where('id', 'in', ids).execute()
  return true
}
