import type { Selectable } from 'kysely'
import type { Dialect, Handle, Tables } from '../../infra/db/index.ts'

export type KeyRow = Selectable<Tables['idempotencyKeys']>

/** Who may write the row now: the request that took the lease last. */
export interface Lease {
  id: string
  token: string
}

export interface RunningMark extends Lease {
  bodyHash: string
  leaseUntil: number
  expiresAt: number
}

/** The rows of the keys. `lock` and the writes belong into one transaction. */
export function keyStore(handle: Handle, dialect: Dialect) {
  return {
    /** False when the key has a row already. */
    async insert(mark: RunningMark): Promise<boolean> {
      const row = await handle
        .insertInto('idempotencyKeys')
        .values({ ...mark, state: 'running', status: null, answer: null })
        .onConflict((conflict) => conflict.column('id').doNothing())
        .returning('id')
        .executeTakeFirst()
      return row !== undefined
    },

    /** The row, kept from changing until the transaction ends. */
    lock(id: string): Promise<KeyRow | undefined> {
      return handle
        .selectFrom('idempotencyKeys')
        .selectAll()
        .where('id', '=', id)
        .modifyEnd(dialect.forUpdate)
        .executeTakeFirst()
    },

    /** Starts over on a row whose lease or life has ended. */
    async takeOver({ id, ...mark }: RunningMark): Promise<void> {
      await handle
        .updateTable('idempotencyKeys')
        .set({ ...mark, state: 'running', status: null, answer: null })
        .where('id', '=', id)
        .execute()
    },

    /** Keeps the answer. False when another request has taken the lease meanwhile. */
    async finish({ id, token }: Lease, status: number, answer: string | null): Promise<boolean> {
      const row = await handle
        .updateTable('idempotencyKeys')
        .set({ state: 'done', status, answer })
        .where('id', '=', id)
        .where('token', '=', token)
        .where('state', '=', 'running')
        .returning('id')
        .executeTakeFirst()
      return row !== undefined
    },

    /** Forgets a running mark, so that a repeat starts afresh at once. */
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
