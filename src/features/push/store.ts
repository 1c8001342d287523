import type { Selectable } from 'kysely'
import type { Handle, Tables, Tx } from '../../infra/db/index.ts'

export type SubscriptionRow = Selectable<Tables['pushSubscriptions']>

/** Rows of `pushSubscriptions`; writes only inside a transaction. */
export function pushStore(handle: Handle) {
  const rows = () => handle.selectFrom('pushSubscriptions').selectAll()
  return {
    find: (accountId: string): Promise<SubscriptionRow | undefined> =>
      rows().where('accountId', '=', accountId).executeTakeFirst(),

    async bySubscription(provider: SubscriptionRow['provider'], ids: readonly string[]): Promise<SubscriptionRow[]> {
      if (ids.length === 0) return []
      return rows().where('subscriptionId', 'in', ids).where('provider', '=', provider).execute()
    },

    async save(row: SubscriptionRow): Promise<void> {
      const { accountId, ...rest } = row
      await handle
        .insertInto('pushSubscriptions')
        .values({ accountId, ...rest })
        .onConflict((conflict) => conflict.column('accountId').doUpdateSet(rest))
        .execute()
    },

    /** Its owner is to look after it now; of one that was replaced meanwhile nothing is changed. */
    async due({ accountId, subscriptionId }: SubscriptionRow, isGone: boolean): Promise<void> {
      await handle
        .updateTable('pushSubscriptions')
        .set({ renewAt: 0, ...(isGone && { expiresAt: 0 }) })
        .where('accountId', '=', accountId)
        .where('subscriptionId', '=', subscriptionId)
        .execute()
    },

    /** Accounts whose subscription a lifecycle notification made due. */
    async allDue(): Promise<string[]> {
      const rows = await handle.selectFrom('pushSubscriptions').select('accountId').where('renewAt', '=', 0).execute()
      return rows.map(({ accountId }) => accountId)
    },

    async remove({ accountId, subscriptionId }: SubscriptionRow): Promise<void> {
      await handle
        .deleteFrom('pushSubscriptions')
        .where('accountId', '=', accountId)
        .where('subscriptionId', '=', subscriptionId)
        .execute()
    },
  }
}

/** Erases the subscription of a deleted account; answers how many rows went. */
export async function erasePush(tx: Tx, accountId: string): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('pushSubscriptions')
    .where('accountId', '=', accountId)
    .executeTakeFirst()
  return Number(numDeletedRows)
}
