import { type Selectable, sql } from 'kysely'
import type { Handle, Tables } from '../../platform/db/index.ts'
import type { ProviderName } from '../../providers/contract/index.ts'

export type CalendarSubscription = Selectable<Tables['calendarSubscriptions']>

/** Reads and writes `calendarSubscriptions`. The methods that write need a `Tx`. */
export function calendarSubscriptionStore(handle: Handle) {
  const numbered = (rows: CalendarSubscription[]) =>
    rows.map((row) => ({ ...row, expiresAt: Number(row.expiresAt), renewAt: Number(row.renewAt) }))
  /** Does nothing when the subscription was replaced meanwhile. */
  const change = ({ accountId, calendarId, subscriptionId }: CalendarSubscription) =>
    handle
      .updateTable('calendarSubscriptions')
      .where('accountId', '=', accountId)
      .where('calendarId', '=', calendarId)
      .where('subscriptionId', '=', subscriptionId)
  return {
    async of(accountId: string): Promise<CalendarSubscription[]> {
      return numbered(
        await handle.selectFrom('calendarSubscriptions').selectAll().where('accountId', '=', accountId).execute(),
      )
    },

    async bySubscription(provider: ProviderName, ids: readonly string[]): Promise<CalendarSubscription[]> {
      if (ids.length === 0) return []
      const rows = handle.selectFrom('calendarSubscriptions').selectAll().where('subscriptionId', 'in', ids)
      return numbered(await rows.where('provider', '=', provider).execute())
    },

    async save(row: CalendarSubscription): Promise<void> {
      const { accountId, calendarId, ...rest } = row
      await handle
        .insertInto('calendarSubscriptions')
        .values(row)
        .onConflict((conflict) => conflict.columns(['accountId', 'calendarId']).doUpdateSet(rest))
        .execute()
    },

    async setNotified(row: CalendarSubscription): Promise<void> {
      await change(row).set({ isNotified: 1 }).execute()
    },

    /** Makes the renewal due now. */
    async markDue(row: CalendarSubscription, isRemoved: boolean): Promise<void> {
      await change(row)
        .set({ isNotified: 1, renewAt: 0, ...(isRemoved && { expiresAt: 0 }) })
        .execute()
    },

    async clearNotified(row: CalendarSubscription): Promise<void> {
      await change(row).set({ isNotified: 0 }).execute()
    },

    /** The accounts with changes that no sync has begun to read. */
    async notifiedAccounts(): Promise<string[]> {
      const rows = await handle
        .selectFrom('calendarSubscriptions')
        .select('accountId')
        .distinct()
        .where('isNotified', '=', sql.lit(1))
        .execute()
      return rows.map(({ accountId }) => accountId)
    },

    async remove({ accountId, calendarId, subscriptionId }: CalendarSubscription): Promise<void> {
      await handle
        .deleteFrom('calendarSubscriptions')
        .where('accountId', '=', accountId)
        .where('calendarId', '=', calendarId)
        .where('subscriptionId', '=', subscriptionId)
        .execute()
    },
  }
}
