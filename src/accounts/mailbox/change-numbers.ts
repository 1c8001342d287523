/**
 * Sync may read a message at the provider before the API changes it, and store what it read afterwards. Numbers prevent that,
 * without comparing the clocks of two instances:
 *
 *   sync:  reads the numbers ──► reads the provider ──────────────────► stores: a row with a later number? ──► reads again
 *   API:                            changes the provider ──► stores the change with the next number
 */
import type { Selectable } from 'kysely'
import { compiledOnce, type Handle, type Tables, type Tx } from '../../platform/db/index.ts'

export type ApiChanges = Omit<Selectable<Tables['apiChanges']>, 'accountId' | 'labelsCleared'>

/** Sync read a message or the folders before the API changed them. Nothing was stored: read again from the same cursor. */
export class StaleRead extends Error {
  override name = 'StaleRead'
}

const noApiChanges: ApiChanges = { latest: 0, latestDeletion: 0, latestFolder: 0 }

const find = compiledOnce((handle, accountId: string) =>
  handle
    .selectFrom('apiChanges')
    .select(['latest', 'latestDeletion', 'latestFolder'])
    .where('accountId', '=', accountId),
)

/** Read it before the provider is asked for anything. */
export async function findApiChanges(handle: Handle, accountId: string): Promise<ApiChanges> {
  const [row] = await find(handle, accountId)
  return row ?? noApiChanges
}

/** Returns the number of a change. Call it after `accounts.hold`, in the transaction that stores what the provider accepted. */
export async function numberApiChange(tx: Tx, accountId: string, kind?: 'deletion' | 'folder'): Promise<number> {
  const { latest, latestDeletion, latestFolder } = await findApiChanges(tx, accountId)
  const number = latest + 1
  const changes = {
    latest: number,
    latestDeletion: kind === 'deletion' ? number : latestDeletion,
    latestFolder: kind === 'folder' ? number : latestFolder,
  }
  await tx
    .insertInto('apiChanges')
    .values({ accountId, ...changes })
    .onConflict((conflict) => conflict.column('accountId').doUpdateSet(changes))
    .execute()
  return number
}

/** Deletes the row of a deleted account. Returns the number of deleted rows. */
export async function eraseApiChanges(tx: Tx, accountId: string): Promise<number> {
  const { numDeletedRows } = await tx.deleteFrom('apiChanges').where('accountId', '=', accountId).executeTakeFirst()
  return Number(numDeletedRows)
}
