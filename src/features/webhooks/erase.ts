import type { Db, Tx } from '../../infra/db/index.ts'
import { deleteDeliveries } from './delivery-store.ts'

const ROWS_PER_TRANSACTION = 500

/** The one event of a deleted account that stays, and is delivered. */
const LAST_EVENT = 'account.deleted'

/** In the transaction that deletes the account: nothing more about it is sent, but for `account.deleted`. */
export async function cancelForAccount(tx: Tx, accountId: string): Promise<void> {
  await tx
    .updateTable('webhookDeliveries')
    .set({ status: 'cancelled', nextAttemptAt: null, lease: null, leasedUntil: null })
    .where('accountId', '=', accountId)
    .where('nextAttemptAt', 'is not', null)
    .where('eventType', '<>', LAST_EVENT)
    .execute()
}

/** Afterwards, in small transactions: removes the account's deliveries and what was answered to them. May be repeated. */
export async function eraseForAccount(db: Db, accountId: string): Promise<void> {
  await inBatches(db, async (tx) => {
    const rows = await tx
      .selectFrom('webhookDeliveries')
      .select('id')
      .where('accountId', '=', accountId)
      .where('eventType', '<>', LAST_EVENT)
      .limit(ROWS_PER_TRANSACTION)
      .execute()
    return rows.map((row) => row.id)
  })
}

/** Removes deliveries made before `beforeMs`, whatever their state. Answers how many. Ids are in the order of making. */
export function purgeDeliveries(db: Db, beforeMs: number): Promise<number> {
  return inBatches(db, async (tx) => {
    const rows = await tx
      .selectFrom('webhookDeliveries')
      .select(['id', 'createdAt'])
      .orderBy('id')
      .limit(ROWS_PER_TRANSACTION)
      .execute()
    return rows.filter((row) => row.createdAt < beforeMs).map((row) => row.id)
  })
}

async function inBatches(db: Db, next: (tx: Tx) => Promise<string[]>): Promise<number> {
  let removed = 0
  for (;;) {
    const count = await db.transaction(async (tx) => {
      const ids = await next(tx)
      await deleteDeliveries(tx, ids)
      return ids.length
    })
    removed += count
    if (count < ROWS_PER_TRANSACTION) return removed
  }
}
