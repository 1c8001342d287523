import { sql } from 'kysely'
import type { Dialect, Handle, Tx } from '../../platform/db/index.ts'
import type { ConnectionTokenRow } from './tables.ts'

/** Rows of access tokens of connections; the writes only inside a transaction. */
export function connectionTokenStore(handle: Handle, dialect: Dialect) {
  return {
    find: (id: string): Promise<ConnectionTokenRow | undefined> =>
      handle.selectFrom('connectionTokens').selectAll().where('id', '=', id).executeTakeFirst(),

    /** Takes the lease for `holder`, for at most `leaseMs`, and returns the row. Undefined while another holds it. */
    async takeLease(
      token: Pick<ConnectionTokenRow, 'id' | 'connectionId'>,
      holder: string,
      leaseMs: number,
    ): Promise<ConnectionTokenRow | undefined> {
      const until = sql<number>`${dialect.nowMs} + ${sql.lit(leaseMs)}`
      await handle
        .insertInto('connectionTokens')
        .values({ ...token, token: null, expiresAt: until, lease: null, leaseUntil: null })
        .onConflict((conflict) => conflict.column('id').doNothing())
        .execute()
      return handle
        .updateTable('connectionTokens')
        .set({ lease: holder, leaseUntil: until })
        .where('id', '=', token.id)
        .where((eb) => eb.or([eb('lease', 'is', null), eb('leaseUntil', '<', sql<number>`${dialect.nowMs}`)]))
        .returningAll()
        .executeTakeFirst()
    },

    async endLease(id: string, holder: string): Promise<void> {
      await handle
        .updateTable('connectionTokens')
        .set({ lease: null, leaseUntil: null })
        .where('id', '=', id)
        .where('lease', '=', holder)
        .execute()
    },

    /** Stores the token and ends the lease. False when the lease was lost, or the credentials were replaced meanwhile. */
    async keep(id: string, holder: string, kept: { token: string; expiresAt: number }): Promise<boolean> {
      const { numUpdatedRows } = await handle
        .updateTable('connectionTokens')
        .set({ ...kept, lease: null, leaseUntil: null })
        .where('id', '=', id)
        .where('lease', '=', holder)
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },

    /** Makes the next use of the connection request new tokens. */
    async forget(connectionId: string): Promise<void> {
      await handle.deleteFrom('connectionTokens').where('connectionId', '=', connectionId).execute()
    },
  }
}

/** Deletes tokens that have expired. */
export async function purgeTokens(tx: Tx, beforeMs: number, limit: number): Promise<number> {
  const expired = tx.selectFrom('connectionTokens').select('id').where('expiresAt', '<', beforeMs).limit(limit)
  const { numDeletedRows } = await tx.deleteFrom('connectionTokens').where('id', 'in', expired).executeTakeFirst()
  return Number(numDeletedRows)
}
