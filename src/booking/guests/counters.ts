import type { Tx } from '../../platform/db/index.ts'

/** Locks the row of a counter until the transaction ends, and returns what it has counted. Take several in the order of their names. */
export async function lockCounter(tx: Tx, scope: string): Promise<string> {
  // Writing locks the row, also one that retention is about to delete.
  const row = await tx
    .insertInto('guestCounters')
    .values({ scope, spent: '[]', expiresAt: 0 })
    .onConflict((conflict) => conflict.column('scope').doUpdateSet({ scope }))
    .returning('spent')
    .executeTakeFirstOrThrow()
  return row.spent
}
