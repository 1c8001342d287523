import { findApiChanges, StaleRead } from '../../accounts/index.ts'
import { listObjectGroups, removeGroup } from '../groups.ts'
import { findGroupChange, saveListedGroups } from '../listed-groups.ts'
import { type BookRow, bookStore, isIndexable, newBookRow, saveListing } from '../store.ts'
import { unreadableContacts } from '../unreadable.ts'
import { inTransaction } from './fenced.ts'
import type { AccountBooksDeps, OwnedBooks } from './owned-books.ts'
import { removeContacts } from './removal.ts'

const MEMBERS_PER_TRANSACTION = 500

/** Stores the address books as the provider lists them, and removes those that are gone, with their contacts. */
export async function listBooks(deps: AccountBooksDeps, owned: OwnedBooks): Promise<void> {
  const { db, ids, clock } = deps
  const { accountId, remote, signal } = owned
  const isKnown = (await bookStore(db.read).all(accountId)).length > 0
  const listed = (await remote.listBooks(signal, isKnown)).filter(({ bookId }) => isIndexable(bookId))
  const nowMs = clock.now()
  const gone = await inTransaction(deps, owned, async (tx) => {
    const stored = new Map((await bookStore(tx).all(accountId)).map((row) => [row.providerId, row]))
    const rows = listed.map((book) => newBookRow(book, { id: ids('cbk'), accountId, nowMs }, stored.get(book.bookId)))
    await saveListing(tx, accountId, nowMs, {
      inserted: rows.filter(({ providerId }) => !stored.has(providerId)),
      updated: rows.filter((row) => isListedAnew(stored.get(row.providerId), row)),
    })
    const current = new Set(listed.map(({ bookId }) => bookId))
    return [...stored.values()].filter((row) => !current.has(row.providerId))
  })
  for (const book of gone) await removeBook(deps, owned, book)
}

function isListedAnew(before: BookRow | undefined, { name, isWritable, isDefault }: BookRow): boolean {
  if (before === undefined) return false
  return before.name !== name || before.isWritable !== isWritable || before.isDefault !== isDefault
}

async function removeBook(deps: AccountBooksDeps, owned: OwnedBooks, book: BookRow): Promise<void> {
  await removeContacts(deps, owned, book, Number.MAX_SAFE_INTEGER)
  const groups = await listObjectGroups(deps.db.read, book)
  await removeGroups(
    deps,
    owned,
    groups.map(({ id }) => id),
  )
  await inTransaction(deps, owned, async (tx) => {
    await unreadableContacts.removeBefore(tx, book.id, Number.MAX_SAFE_INTEGER)
    await tx.deleteFrom('contactBooks').where('id', '=', book.id).execute()
  })
}

/** Stores the groups that the provider lists beside its contacts. Lists them again when the API changed one meanwhile. */
export async function listGroups(deps: AccountBooksDeps, owned: OwnedBooks): Promise<void> {
  for (let isListed = false; !isListed; ) {
    owned.signal.throwIfAborted()
    isListed = await listGroupsOnce(deps, owned).then(
      () => true,
      (error: unknown) => {
        if (error instanceof StaleRead) return false
        throw error
      },
    )
  }
}

/** Throws `StaleRead`. */
async function listGroupsOnce(deps: AccountBooksDeps, owned: OwnedBooks): Promise<void> {
  const { db, ids, clock } = deps
  const { accountId, remote, signal } = owned
  if (remote.listGroups === undefined) return
  const { latest: readAfter } = await findApiChanges(db.read, accountId)
  const listed = await remote.listGroups(signal)
  const nowMs = clock.now()
  const gone = await inTransaction(deps, owned, async (tx) => {
    if ((await findGroupChange(tx, accountId)) > readAfter) throw new StaleRead()
    return saveListedGroups(tx, { ids, accountId, nowMs }, listed)
  })
  await removeGroups(deps, owned, gone)
}

async function removeGroups(deps: AccountBooksDeps, owned: OwnedBooks, groupIds: readonly string[]): Promise<void> {
  for (const id of groupIds) {
    const removeSome = () => inTransaction(deps, owned, (tx) => removeGroup(tx, id, MEMBERS_PER_TRANSACTION))
    while ((await removeSome()) > 0) owned.signal.throwIfAborted()
  }
}
