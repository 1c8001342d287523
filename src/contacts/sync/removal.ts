import { type BookRow, contactStore } from '../store.ts'
import { applyChanges } from './apply.ts'
import { inTransaction } from './fenced.ts'
import type { AccountBooksDeps, OwnedBooks } from './owned-books.ts'

const ROWS_PER_TRANSACTION = 50

/** Deletes the contacts that rounds before `round` stored. */
export async function removeContacts(
  deps: AccountBooksDeps,
  owned: OwnedBooks,
  book: BookRow,
  round: number,
): Promise<void> {
  const { clock } = deps
  for (let more = true; more; ) {
    owned.signal.throwIfAborted()
    const deleted = await inTransaction(deps, owned, async (tx) => {
      const rows = await contactStore(tx, book.id).beforeRound(round, ROWS_PER_TRANSACTION)
      const context = {
        book,
        provider: owned.provider,
        nowMs: clock.now(),
        isAnnounced: book.syncedAt !== null,
        source: { readAfter: Number.MAX_SAFE_INTEGER },
      }
      await applyChanges(deps, tx, context, { found: [], removed: rows.map(({ providerId }) => providerId) })
      return rows.length
    })
    if (deleted > 0) owned.onStored?.({ added: 0, updated: 0, deleted })
    more = deleted > 0
  }
}
