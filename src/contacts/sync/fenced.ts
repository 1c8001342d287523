import type { Tx } from '../../platform/db/index.ts'
import type { AccountBooksDeps, OwnedBooks } from './owned-books.ts'

/** A transaction under the epoch of this instance. Throws `OwnershipLost` when another one owns the account. */
export function inTransaction<Result>(
  { db, fence }: Pick<AccountBooksDeps, 'db' | 'fence'>,
  { accountId, epoch }: Pick<OwnedBooks, 'accountId' | 'epoch'>,
  change: (tx: Tx) => Promise<Result>,
): Promise<Result> {
  return db.transaction(async (tx) => {
    await fence(tx, accountId, epoch)
    return change(tx)
  })
}
