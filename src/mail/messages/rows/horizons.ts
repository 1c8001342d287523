import type { Selectable } from 'kysely'
import type { Handle, Tables, Tx } from '../../../platform/db/index.ts'

/** Sync writes how far back mail is stored; searches continue at the provider from there. */
export function mailHorizons(handle: Handle) {
  return {
    /** `storedSince` by scope. */
    async all(accountId: string): Promise<Map<string, number>> {
      const rows = await handle.selectFrom('mailHorizons').selectAll().where('accountId', '=', accountId).execute()
      return new Map(rows.map(({ scopeId, storedSince }) => [scopeId, storedSince]))
    },

    async save(horizon: Selectable<Tables['mailHorizons']>): Promise<void> {
      await handle
        .insertInto('mailHorizons')
        .values(horizon)
        .onConflict((conflict) =>
          conflict.columns(['accountId', 'scopeId']).doUpdateSet({ storedSince: horizon.storedSince }),
        )
        .execute()
    },
  }
}

/** Deletes the rows of a deleted account. Returns how many. */
export async function eraseHorizons(tx: Tx, accountId: string): Promise<number> {
  const { numDeletedRows } = await tx.deleteFrom('mailHorizons').where('accountId', '=', accountId).executeTakeFirst()
  return Number(numDeletedRows)
}
