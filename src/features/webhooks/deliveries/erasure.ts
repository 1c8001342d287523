import { silenceEvents } from '../../../events/index.ts'
import type { Tx } from '../../../infra/db/index.ts'
import { deleteDeliveries } from './store.ts'

/** The only event of a deleted account that remains and is delivered. */
const LAST_EVENT = 'account.deleted'

/**
 * Cancels the account's waiting deliveries, except of `account.deleted`, in the transaction that deletes the account. A
 * request in flight may still arrive; its attempt is not recorded.
 */
export async function cancelForAccount(tx: Tx, accountId: string): Promise<void> {
  // First, because it waits for a running fan-out, whose deliveries the next statement must see.
  await silenceEvents(tx, accountId)
  await tx
    .updateTable('webhookDeliveries')
    .set({ status: 'cancelled', nextAttemptAt: null, lease: null, leasedUntil: null })
    .where('accountId', '=', accountId)
    .where('nextAttemptAt', 'is not', null)
    .where('eventType', '<>', LAST_EVENT)
    .execute()
}

/** Deletes up to `limit` deliveries of a deleted account with their attempts. Returns how many. */
export async function eraseDeliveries(tx: Tx, accountId: string, limit: number): Promise<number> {
  const rows = await tx
    .selectFrom('webhookDeliveries')
    .select('id')
    .where('accountId', '=', accountId)
    .where('eventType', '<>', LAST_EVENT)
    .limit(limit)
    .execute()
  await deleteDeliveries(
    tx,
    rows.map((row) => row.id),
  )
  return rows.length
}

/** Deletes up to `limit` deliveries created before `beforeMs`, in any state. Returns true when there may be more. */
export async function purgeDeliveries(tx: Tx, beforeMs: number, limit: number): Promise<boolean> {
  // Ids are ordered by creation time, so the oldest need no index on the time.
  const oldest = await tx
    .selectFrom('webhookDeliveries')
    .select(['id', 'createdAt'])
    .orderBy('id')
    .limit(limit)
    .execute()
  const ids = oldest.filter((row) => row.createdAt < beforeMs).map((row) => row.id)
  await deleteDeliveries(tx, ids)
  return ids.length === limit
}
