import type { Tx } from '../../../platform/db/index.ts'
import { deleteBodies } from '../bodies/store.ts'
import { eraseThreadLists } from '../threads/lists.ts'
import { deleteDraftKeys } from './draft-keys.ts'
import { deleteTexts } from './stored-json.ts'
import { markUnindexed } from './unindexed.ts'

/** Deletes up to `limit` messages of a deleted account, then its counters. Returns the number of rows; 0: nothing is left. */
export async function eraseMessages(tx: Tx, accountId: string, limit: number): Promise<number> {
  const rows = await tx.selectFrom('messages').select('id').where('accountId', '=', accountId).limit(limit).execute()
  const ids = rows.map((row) => row.id)
  if (ids.length > 0) {
    await tx.deleteFrom('messageLabels').where('messageId', 'in', ids).execute()
    await eraseThreadLists(tx, ids)
    await deleteBodies(tx, ids)
    await deleteTexts(tx, ids)
    await deleteDraftKeys(tx, ids)
    await markUnindexed(tx, accountId, ids)
    await tx.deleteFrom('messages').where('id', 'in', ids).execute()
    return ids.length
  }
  const some = tx.selectFrom('messageCounters').select('labelId').where('accountId', '=', accountId).limit(limit)
  const counters = await tx
    .deleteFrom('messageCounters')
    .where('accountId', '=', accountId)
    .where('labelId', 'in', some)
    .executeTakeFirst()
  return Number(counters.numDeletedRows)
}
