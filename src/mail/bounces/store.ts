import { type Handle, insertRows, type Tx } from '../../platform/db/index.ts'
import type { BounceRow, PendingReport } from './tables.ts'

/** Reports to read and bounces. The methods that write need a `Tx`. */
export function bounceStore(handle: Handle) {
  return {
    /** Fewest failed reads first. */
    pending: (accountId: string, limit: number): Promise<PendingReport[]> =>
      handle
        .selectFrom('pendingReports')
        .selectAll()
        .where('accountId', '=', accountId)
        .orderBy('attempts')
        .orderBy('messageId')
        .limit(limit)
        .execute(),

    async accountsWithPending(): Promise<string[]> {
      const rows = await handle.selectFrom('pendingReports').select('accountId').distinct().execute()
      return rows.map((row) => row.accountId)
    },

    async addPending(tx: Tx, reports: readonly PendingReport[]): Promise<void> {
      await insertRows(tx, 'pendingReports', reports, 'on conflict ("messageId") do nothing')
    },

    async countFailedRead(tx: Tx, messageId: string): Promise<void> {
      await tx
        .updateTable('pendingReports')
        .set((eb) => ({ attempts: eb('attempts', '+', 1) }))
        .where('messageId', '=', messageId)
        .execute()
    },

    /** Returns false when another run has ended it. */
    async endPending(tx: Tx, messageId: string): Promise<boolean> {
      const { numDeletedRows } = await tx
        .deleteFrom('pendingReports')
        .where('messageId', '=', messageId)
        .executeTakeFirst()
      return numDeletedRows === 1n
    },

    async insert(tx: Tx, row: BounceRow): Promise<void> {
      await tx.insertInto('bounces').values(row).execute()
    },

    async count(messageId: string): Promise<number> {
      const { count } = await handle
        .selectFrom('bounces')
        .select((eb) => eb.fn.countAll<number | string>().as('count'))
        .where('messageId', '=', messageId)
        .executeTakeFirstOrThrow()
      return Number(count)
    },
  }
}

/** Deletes up to `limit` bounces older than `beforeMs` and returns how many. */
export async function purgeBounces(tx: Tx, beforeMs: number, limit: number): Promise<number> {
  const old = tx.selectFrom('bounces').select('reportMessageId').where('bouncedAt', '<', beforeMs).limit(limit)
  const { numDeletedRows } = await tx.deleteFrom('bounces').where('reportMessageId', 'in', old).executeTakeFirst()
  return Number(numDeletedRows)
}

/** Deletes up to `limit` rows of a deleted account and returns how many. */
export async function eraseBounces(tx: Tx, accountId: string, limit: number): Promise<number> {
  const pending = tx.selectFrom('pendingReports').select('messageId').where('accountId', '=', accountId).limit(limit)
  const reports = await tx.deleteFrom('pendingReports').where('messageId', 'in', pending).executeTakeFirst()
  if (reports.numDeletedRows > 0n) return Number(reports.numDeletedRows)
  const some = tx.selectFrom('bounces').select('reportMessageId').where('accountId', '=', accountId).limit(limit)
  const { numDeletedRows } = await tx.deleteFrom('bounces').where('reportMessageId', 'in', some).executeTakeFirst()
  return Number(numDeletedRows)
}
