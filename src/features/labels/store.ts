import type { Selectable, Updateable } from 'kysely'
import type { Handle, Tables, Tx } from '../../infra/db/index.ts'

export type LabelRow = Selectable<Tables['labels']>

/** The labels of accounts. Writes go through a `Tx`. */
export function labelStore(handle: Handle) {
  return {
    all(accountId: string): Promise<LabelRow[]> {
      return handle.selectFrom('labels').selectAll().where('accountId', '=', accountId).orderBy('providerId').execute()
    },
    /** By our id, or by the provider's (the path for imap; INBOX in any case). An id of ours wins. */
    async find(accountId: string, idOrPath: string): Promise<LabelRow | undefined> {
      const path = idOrPath.toUpperCase() === 'INBOX' ? 'INBOX' : idOrPath
      const rows = await handle
        .selectFrom('labels')
        .selectAll()
        .where('accountId', '=', accountId)
        .where((eb) => eb.or([eb('id', '=', idOrPath), eb('providerId', '=', path)]))
        .execute()
      return rows.find((row) => row.id === idOrPath) ?? rows[0]
    },
    async byIds(ids: readonly string[]): Promise<Map<string, LabelRow>> {
      if (ids.length === 0) return new Map()
      const rows = await handle
        .selectFrom('labels')
        .selectAll()
        .where('id', 'in', [...ids])
        .execute()
      return new Map(rows.map((row) => [row.id, row]))
    },
    /** Those whose path is taken already are left as they are. */
    async insert(rows: readonly LabelRow[]): Promise<void> {
      for (let start = 0; start < rows.length; start += ROWS_PER_INSERT) {
        await handle
          .insertInto('labels')
          .values(rows.slice(start, start + ROWS_PER_INSERT))
          .onConflict((conflict) => conflict.columns(['accountId', 'providerId']).doNothing())
          .execute()
      }
    },
    async update(id: string, changes: Updateable<Tables['labels']>): Promise<void> {
      await handle.updateTable('labels').set(changes).where('id', '=', id).execute()
    },
    /** Counts one change of the folder's content or name; answers the new version. */
    async incrementVersion(id: string): Promise<number> {
      const { version } = await handle
        .updateTable('labels')
        .set((eb) => ({ version: eb('version', '+', 1) }))
        .where('id', '=', id)
        .returning('version')
        .executeTakeFirstOrThrow()
      return version
    },
    async remove(id: string): Promise<void> {
      await handle.deleteFrom('labels').where('id', '=', id).execute()
    },
  }
}

/** Erases the labels of a deleted account, few as they are; answers how many rows went. */
export async function eraseLabels(tx: Tx, accountId: string): Promise<number> {
  const { numDeletedRows } = await tx.deleteFrom('labels').where('accountId', '=', accountId).executeTakeFirst()
  return Number(numDeletedRows)
}

export type LabelStore = ReturnType<typeof labelStore>

const ROWS_PER_INSERT = 200
