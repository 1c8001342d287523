import type { Tx } from '../../infra/db/index.ts'

/** Deletes up to `limit` keys whose 24 hours ended before `beforeMs`; true when there may be more. */
export async function purgeIdempotencyKeys(tx: Tx, beforeMs: number, limit: number): Promise<boolean> {
  const expired = tx
    .selectFrom('idempotencyKeys')
    .select('id')
    .where('expiresAt', '<=', beforeMs)
    .orderBy('expiresAt')
    .limit(limit)
  const rows = await tx.deleteFrom('idempotencyKeys').where('id', 'in', expired).returning('id').execute()
  return rows.length === limit
}
