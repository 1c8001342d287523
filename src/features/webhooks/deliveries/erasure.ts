import { silenceEvents } from '../../../events/index.ts'
import type { Tx } from '../../../infra/db/index.ts'
import { deleteDeliveries } from './store.ts'

/** The one event of a deleted account that stays, and is delivered. */
const LAST_EVENT = 'account.deleted'

/**
 * In the transaction that deletes the account: nothing more about it is sent, but for `account.deleted`. A request that is
 * on its way at this moment may still arrive; its attempt leaves no trace.
 */
export async function cancelForAccount(tx: Tx, accountId: string): Promise<void> {
  // First: it waits for a fan-out that has these events in hand, whose deliveries the next statement then sees.
  await silenceEvents(tx, accountId)
  await tx
    .updateTable('webhookDeliveries')
    .set({ status: 'cancelled', nextAttemptAt: null, lease: null, leasedUntil: null })
    .where('accountId', '=', accountId)
    .where('nextAttemptAt', 'is not', null)
    .where('eventType', '<>', LAST_EVENT)
    .execute()
}

/** Removes up to `limit` deliveries of a deleted account and what was answered to them; answers how many went. */
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

/** Removes up to `limit` deliveries made before `beforeMs`, whatever their state; true when there may be more. */
export async function purgeDeliveries(tx: Tx, beforeMs: number, limit: number): Promise<boolean> {
  // Ids are in the order of making: the oldest are found without an index on the time.
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
