import { type Fence, OwnershipLost } from '../account.ts'

/** One update that takes the account's row lock, and finds no row when somebody else owns the account by now, or nobody has it any more. */
export const fence: Fence = async (tx, accountId, epoch) => {
  const { numUpdatedRows } = await tx
    .updateTable('accounts')
    .set((eb) => ({ epoch: eb.ref('epoch') }))
    .where('id', '=', accountId)
    .where('epoch', '=', epoch)
    .executeTakeFirst()
  if (numUpdatedRows !== 1n) throw new OwnershipLost(`account ${accountId} is no longer owned under epoch ${epoch}`)
}
