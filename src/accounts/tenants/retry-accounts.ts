import type { Db, Tx } from '../../platform/db/index.ts'
import { connectionStore } from './store.ts'

/** Bounds how long one transaction of the file store holds the event loop. */
const PER_TRANSACTION = 50

/** Allows one more attempt for the accounts of a connection that are in auth_error: its credentials work again. */
export async function retryAccounts(
  { db, tryAgain }: { db: Db; tryAgain(tx: Tx, accountId: string): Promise<unknown> },
  connectionId: string,
): Promise<void> {
  let after = ''
  for (;;) {
    const ids = await connectionStore(db.read, db.dialect).accountIds(
      connectionId,
      after,
      PER_TRANSACTION,
      'auth_error',
    )
    const last = ids.at(-1)
    if (last === undefined) return
    await db.transaction(async (tx) => {
      const existing = await connectionStore(tx, db.dialect).accountIds(
        connectionId,
        after,
        PER_TRANSACTION,
        'auth_error',
      )
      for (const id of existing) if (id <= last) await tryAgain(tx, id)
    })
    after = last
  }
}
