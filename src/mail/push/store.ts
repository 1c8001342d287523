import type { Selectable } from 'kysely'
import type { Handle, Tables, Tx } from '../../platform/db/index.ts'

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

    /** Makes the renewal due now. Does nothing when the subscription was replaced meanwhile. */
    async markDue({ accountId, subscriptionId }: SubscriptionRow, isRemoved: boolean): Promise<void> {
      await handle
        .updateTable('pushSubscriptions')
        .set({ renewAt: 0, ...(isRemoved && { expiresAt: 0 }) })
        .where('accountId', '=', accountId)
        .where('subscriptionId', '=', subscriptionId)
        .execute()
    },

    /** The accounts whose renewal a lifecycle notification made due. */
    async listDue(): Promise<string[]> {
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

/** Deletes the subscription row of a deleted account. Returns how many rows were deleted. */
export async function erasePush(tx: Tx, accountId: string): Promise<number> {
  const { numDeletedRows } = await tx
    .deleteFrom('pushSubscriptions')
    .where('accountId', '=', accountId)
    .executeTakeFirst()
  return Number(numDeletedRows)
}
