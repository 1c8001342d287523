import type { Selectable } from 'kysely'
import type { Dialect, Handle, Tables, Tx } from '../../platform/db/index.ts'

export type KeyRow = Selectable<Tables['idempotencyKeys']>

/** Identifies the request that may write the row: the last one that took the lease. */
export interface Lease {
  id: string
  token: string
}

export interface RunningKey extends Lease {
  bodyHash: string
  leaseUntil: number
  expiresAt: number
}

/** Rows of idempotency keys. Call `lock` and the writes in one transaction. */
export function keyStore(handle: Handle, dialect: Dialect) {
  return {
    /** Returns false when the key already has a row. */
    async insert(key: RunningKey): Promise<boolean> {
      const row = await handle
        .insertInto('idempotencyKeys')
        .values({ ...key, state: 'running', status: null, answer: null })
        .onConflict((conflict) => conflict.column('id').doNothing())
        .returning('id')
        .executeTakeFirst()
      return row !== undefined
    },

    /** Reads the row and locks it until the transaction ends. */
    lock(id: string): Promise<KeyRow | undefined> {
      return handle
        .selectFrom('idempotencyKeys')
        .selectAll()
        .where('id', '=', id)
        .modifyEnd(dialect.forUpdate)
        .executeTakeFirst()
    },

    /** Starts over on a row that has expired, or whose lease has. */
    async takeOver({ id, ...key }: RunningKey): Promise<void> {
      await handle
        .updateTable('idempotencyKeys')
        .set({ ...key, state: 'running', status: null, answer: null })
        .where('id', '=', id)
        .execute()
    },

    /** Stores the response. Returns false when another request took the lease. */
    async finish({ id, token }: Lease, status: number, response: string | null): Promise<boolean> {
      const row = await handle
        .updateTable('idempotencyKeys')
        .set({ state: 'done', status, answer: response })
        .where('id', '=', id)
        .where('token', '=', token)
        .where('state', '=', 'running')
        .returning('id')
        .executeTakeFirst()
      return row !== undefined
    },

    /** Deletes a running key, so that a retry can start at once. */
    async release({ id, token }: Lease): Promise<void> {
      await handle
        .deleteFrom('idempotencyKeys')
        .where('id', '=', id)
        .where('token', '=', token)
        .where('state', '=', 'running')
        .execute()
    },
  }
}

/** Deletes up to `limit` keys that expired by `beforeMs`. Returns how many. */
export async function purgeIdempotencyKeys(tx: Tx, beforeMs: number, limit: number): Promise<number> {
  const expired = tx
    .selectFrom('idempotencyKeys')
    .select('id')
    .where('expiresAt', '<=', beforeMs)
    .orderBy('expiresAt')
    .limit(limit)
  const rows = await tx.deleteFrom('idempotencyKeys').where('id', 'in', expired).returning('id').execute()
  return rows.length
}
