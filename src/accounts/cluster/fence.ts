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

/** An update that locks the account's row. It finds no row when another process owns the account or it was deleted. */
export const fence: Fence = async (tx, accountId, epoch) => {
  const rows = await update(tx, accountId, epoch)
  if (rows.length !== 1) throw new OwnershipLost(`account ${accountId} is no longer owned under epoch ${epoch}`)
}
