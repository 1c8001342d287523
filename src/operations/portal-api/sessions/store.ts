import type { Handle, Tx } from '../../../platform/db/index.ts'
import type { AdminSessionRow } from './tables.ts'

/** Rows of sessions. */
export function adminSessionStore(handle: Handle) {
  return {
    find: (id: string): Promise<AdminSessionRow | undefined> =>
      handle.selectFrom('adminSessions').selectAll().where('id', '=', id).executeTakeFirst(),

    async insert(row: AdminSessionRow): Promise<void> {
      await handle.insertInto('adminSessions').values(row).execute()
    },

    /** Has no effect when another instance wrote a later time. */
    async markUsed(id: string, nowMs: number): Promise<void> {
      await handle
        .updateTable('adminSessions')
        .set({ usedAt: nowMs })
        .where('id', '=', id)
        .where('usedAt', '<', nowMs)
        .execute()
    },

    async delete(id: string): Promise<void> {
      await handle.deleteFrom('adminSessions').where('id', '=', id).execute()
    },

    async deleteAll(): Promise<void> {
      await handle.deleteFrom('adminSessions').execute()
    },
  }
}

/** Deletes up to `limit` sessions that began before `beforeMs` and returns how many. */
export async function purgeAdminSessions(tx: Tx, beforeMs: number, limit: number): Promise<number> {
  const old = tx.selectFrom('adminSessions').select('id').where('createdAt', '<', beforeMs).limit(limit)
  const { numDeletedRows } = await tx.deleteFrom('adminSessions').where('id', 'in', old).executeTakeFirst()
  return Number(numDeletedRows)
}
