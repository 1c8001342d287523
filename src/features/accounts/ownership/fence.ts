import { type Fence, OwnershipLost } from '../account.ts'

/** An update that locks the account's row. It finds no row when another process owns the account or it was deleted. */
export const fence: Fence = async (tx, accountId, epoch) => {
  const { numUpdatedRows } = await tx
    .updateTable('accounts')
    .set((eb) => ({ dataVersion: eb('dataVersion', '+', 1) }))
    .where('id', '=', accountId)
    .where('epoch', '=', epoch)
    .executeTakeFirst()
  if (numUpdatedRows !== 1n) throw new OwnershipLost(`account ${accountId} is no longer owned under epoch ${epoch}`)
}
