import { type BookRow, type ContactRow, contactStore } from '../store.ts'
import { applyChanges } from './apply.ts'
import { inTransaction } from './fenced.ts'
import type { AccountBooksDeps, OwnedBooks } from './owned-books.ts'

const ROWS_PER_TRANSACTION = 50
/** Providers show what the API created this much later. */
const LATE_MS = 15 * 60_000

/** Deletes the contacts that the present round has not found, except those that the provider may not show yet. */
export function removeUnfound(deps: AccountBooksDeps, owned: OwnedBooks, book: BookRow): Promise<void> {
  const oldestMs = deps.clock.now() - LATE_MS
  return removeContacts(deps, owned, book, book.round, (row) => isUnconfirmed(row) && row.updatedAt > oldestMs)
}

/** Whether sync has not seen the contact since the API created or changed it. */
function isUnconfirmed({ apiChange, confirmations }: ContactRow): boolean {
  return Number(apiChange) > 0 && Number(confirmations) === 0
}

/** Deletes the contacts that rounds before `round` stored. Those to keep become part of the present round. */
export async function removeContacts(
  deps: AccountBooksDeps,
  owned: OwnedBooks,
  book: BookRow,
  round: number,
  isKept: (row: ContactRow) => boolean = () => false,
): Promise<void> {
  const { clock } = deps
  for (let more = true; more; ) {
    owned.signal.throwIfAborted()
    const { deleted, kept } = await inTransaction(deps, owned, async (tx) => {
      const store = contactStore(tx, book.id)
      const rows = await store.beforeRound(round, ROWS_PER_TRANSACTION)
      const idsOf = (some: readonly ContactRow[]) => some.map(({ providerId }) => providerId)
      const removed = idsOf(rows.filter((row) => !isKept(row)))
      const late = idsOf(rows.filter(isKept))
      await store.keep(late, book.round)
      const context = {
        book,
        provider: owned.provider,
        nowMs: clock.now(),
        isAnnounced: book.syncedAt !== null,
        source: { readAfter: Number.MAX_SAFE_INTEGER },
      }
      await applyChanges(deps, tx, context, { found: [], removed })
      return { deleted: removed.length, kept: late.length }
    })
    if (deleted > 0) owned.onStored?.({ added: 0, updated: 0, deleted })
    more = deleted + kept > 0
  }
}
