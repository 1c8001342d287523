import type { Selectable } from 'kysely'
import type { Handle, Tables } from '../../infra/db/index.ts'

export type SyncStateRow = Selectable<Tables['syncStates']>

/** Rows of `syncStates`; the owner of the account writes them, inside a fenced transaction. */
export function syncStateStore(handle: Handle) {
  return {
    find: (accountId: string): Promise<SyncStateRow | undefined> =>
      handle.selectFrom('syncStates').selectAll().where('accountId', '=', accountId).executeTakeFirst(),

    async save({ accountId, ...state }: SyncStateRow): Promise<void> {
      await handle
        .insertInto('syncStates')
        .values({ accountId, ...state })
        .onConflict((conflict) => conflict.column('accountId').doUpdateSet(state))
        .execute()
    },
  }
}
