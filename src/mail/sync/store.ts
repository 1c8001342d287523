import type { Insertable, Selectable } from 'kysely'
import { compiledOnce, type Handle, type Tables, type Tx } from '../../platform/db/index.ts'
import { eraseUnreadable } from './unreadable/store.ts'

export type CursorRow = Selectable<Tables['syncCursors']>
export type SyncStateRow = Selectable<Tables['syncStates']>

const findCursor = compiledOnce((handle, accountId: string, labelId: string) =>
  handle.selectFrom('syncCursors').selectAll().where('accountId', '=', accountId).where('labelId', '=', labelId),
)
const savePosition = compiledOnce(
  (handle, accountId: string, labelId: string, cursor: string, uidValidity: string | null) =>
    handle
      .insertInto('syncCursors')
      .values({ accountId, labelId, cursor, uidValidity, announceAfter: null, lastSyncAt: null, compareFrom: null })
      .onConflict((conflict) =>
        conflict.columns(['accountId', 'labelId']).doUpdateSet((eb) => ({
          cursor: eb.ref('excluded.cursor'),
          uidValidity: eb.fn.coalesce('excluded.uidValidity', 'syncCursors.uidValidity'),
          parts: eb('syncCursors.parts', '+', 1),
        })),
      ),
)

/** Sync cursors, one per folder, or one per mailbox that syncs as one. */
export function cursorStore(handle: Handle) {
  return {
    async all(accountId: string): Promise<Map<string, CursorRow>> {
      const rows = await handle.selectFrom('syncCursors').selectAll().where('accountId', '=', accountId).execute()
      return new Map(rows.map((row) => [row.labelId, row]))
    },
    async find(accountId: string, labelId: string): Promise<CursorRow | undefined> {
      return (await findCursor(handle, accountId, labelId))[0]
    },
    /** Everything up to the cursor is stored. Without a `uidValidity`, the stored one remains. */
    async savePosition(accountId: string, labelId: string, cursor: string, uidValidity: string | null): Promise<void> {
      await savePosition(handle, accountId, labelId, cursor, uidValidity)
    },
    /** A part of a step is stored; the cursor follows with the last one. */
    async countPart(accountId: string, labelId: string): Promise<void> {
      await handle
        .updateTable('syncCursors')
        .set((eb) => ({ parts: eb('parts', '+', 1) }))
        .where('accountId', '=', accountId)
        .where('labelId', '=', labelId)
        .execute()
    },
    /** Sets the given columns only. The other columns of a new row are null. */
    async save(accountId: string, labelId: string, changes: Partial<CursorRow>): Promise<void> {
      const empty = { cursor: null, uidValidity: null, announceAfter: null, lastSyncAt: null, compareFrom: null }
      await handle
        .insertInto('syncCursors')
        .values({ ...empty, ...changes, accountId, labelId })
        .onConflict((conflict) => conflict.columns(['accountId', 'labelId']).doUpdateSet({ ...changes, labelId }))
        .execute()
    },
    /** Every folder of the account is in sync. */
    async markSynced(accountId: string, nowMs: number): Promise<void> {
      await handle
        .updateTable('syncCursors')
        .set({ lastSyncAt: nowMs })
        .where('accountId', '=', accountId)
        .where('cursor', 'is not', null)
        .execute()
    },
    /** Ends the request for a comparison, unless there is a newer one. */
    async compared(accountId: string, labelId: string, compareFrom: number): Promise<void> {
      await handle
        .updateTable('syncCursors')
        .set({ compareFrom: null })
        .where('accountId', '=', accountId)
        .where('labelId', '=', labelId)
        .where('compareFrom', '=', compareFrom)
        .execute()
    },
    async remove(labelId: string): Promise<void> {
      await handle.deleteFrom('syncCursors').where('labelId', '=', labelId).execute()
    },
  }
}

/** State of the runs, one row per account. Only the owner writes it, in a fenced transaction. */
export function syncStateStore(handle: Handle) {
  return {
    find: (accountId: string): Promise<SyncStateRow | undefined> =>
      handle.selectFrom('syncStates').selectAll().where('accountId', '=', accountId).executeTakeFirst(),

    /** By account. */
    async findAll(accountIds: readonly string[]): Promise<Map<string, SyncStateRow>> {
      if (accountIds.length === 0) return new Map()
      const rows = await handle.selectFrom('syncStates').selectAll().where('accountId', 'in', accountIds).execute()
      return new Map(rows.map((row) => [row.accountId, row]))
    },

    /** Leaves the refusals as they are unless they are given. */
    async save({ accountId, ...state }: Insertable<Tables['syncStates']>): Promise<void> {
      await handle
        .insertInto('syncStates')
        .values({ accountId, ...state })
        .onConflict((conflict) => conflict.column('accountId').doUpdateSet(state))
        .execute()
    },
  }
}

/** Deletes up to `limit` cursors of a deleted account, as many items that could not be read, and its run state. Returns the number of rows. */
export async function eraseSync(tx: Tx, accountId: string, limit: number): Promise<number> {
  const some = tx.selectFrom('syncCursors').select('labelId').where('accountId', '=', accountId).limit(limit)
  const cursors = await tx
    .deleteFrom('syncCursors')
    .where('accountId', '=', accountId)
    .where('labelId', 'in', some)
    .executeTakeFirst()
  const unreadable = await eraseUnreadable(tx, accountId, limit)
  const states = await tx.deleteFrom('syncStates').where('accountId', '=', accountId).executeTakeFirst()
  return Number(cursors.numDeletedRows + states.numDeletedRows) + unreadable
}
