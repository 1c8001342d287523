import { SqliteAdapter } from 'kysely'
import { compiledOnce } from '../../platform/db/index.ts'
import { type Fence, OwnershipLost } from '../index.ts'

const update = compiledOnce((handle, accountId: string, epoch: number) =>
  handle
    .updateTable('accounts')
    .set((eb) => ({ dataVersion: eb('dataVersion', '+', 1) }))
    .where('id', '=', accountId)
    .where('epoch', '=', epoch)
    .returning('id'),
)

/** PostgreSQL: a take-over waits for the lock, as for that of an update. The file store has one writer. */
const share = compiledOnce((handle, accountId: string, epoch: number) => {
  const row = handle.selectFrom('accounts').select('id').where('id', '=', accountId).where('epoch', '=', epoch)
  return handle.getExecutor().adapter instanceof SqliteAdapter ? row : row.forShare()
})

/** An update that locks the account's row. It finds no row when another process owns the account or it was deleted. */
export const fence: Fence = async (tx, accountId, epoch) => {
  ensureOwned(await update(tx, accountId, epoch), accountId, epoch)
}

export const sharedFence: Fence = async (tx, accountId, epoch) => {
  ensureOwned(await share(tx, accountId, epoch), accountId, epoch)
}

function ensureOwned(rows: readonly unknown[], accountId: string, epoch: number): void {
  if (rows.length !== 1) throw new OwnershipLost(`account ${accountId} is no longer owned under epoch ${epoch}`)
}
