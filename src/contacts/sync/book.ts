import { syncFromCursor } from '../../accounts/collections/index.ts'
import { findApiChanges } from '../../accounts/index.ts'
import { readAhead } from '../../platform/concurrency/read-ahead.ts'
import { type ContactStep, ProviderError } from '../../providers/contract/index.ts'
import { findObjectGroups, listObjectGroups } from '../groups.ts'
import { type BookRow, bookStore } from '../store.ts'
import { unreadableContacts } from '../unreadable.ts'
import { applyChanges } from './apply.ts'
import { inTransaction } from './fenced.ts'
import { removeStoredGroup, storeGroup } from './group-changes.ts'
import type { AccountBooksDeps, OwnedBooks } from './owned-books.ts'
import { removeUnfound } from './removal.ts'

/** A poll without changes is stored this seldom. */
const RECORD_MS = 5 * 60_000
const CONTACTS_PER_TRANSACTION = 100
/** So that the provider works while contacts are stored. */
const STEPS_AHEAD = 2

/** Reads and stores the changes of one address book. Throws `ProviderError`, `OwnershipLost`, or the signal's reason. */
export async function syncBook(deps: AccountBooksDeps, owned: OwnedBooks, book: BookRow): Promise<void> {
  await syncFromCursor(book, {
    read: (row) => readBookChanges(deps, owned, row),
    find: (id) => bookStore(deps.db.read).get(id),
    save: (row, changes) => save(deps, owned, row, changes),
    toGone: bookGone,
  })
}

/** A provider that answers so to a request without a cursor. */
function bookGone(cause: ProviderError): ProviderError {
  return new ProviderError('not_found', 'reading the address book: it no longer exists', { cause })
}

/** Reads and stores everything that changed since the cursor. Throws `StaleRead`. */
async function readBookChanges(deps: AccountBooksDeps, owned: OwnedBooks, started: BookRow): Promise<void> {
  const { remote, signal } = owned
  const { latest: readAfter } = await findApiChanges(deps.db.read, owned.accountId)
  let book = await beginRound(deps, owned, started)
  let hasChanged = false
  const groupIds = new Set<string>()
  const again = await unreadableContacts.findDue(deps.db.read, book, deps.clock.now())
  const request = { bookId: book.providerId, cursor: book.cursor, again, signal }
  for await (const step of readAhead(remote.syncContacts(request), STEPS_AHEAD)) {
    signal.throwIfAborted()
    hasChanged ||= step.found.length + step.removed.length + (step.groups?.length ?? 0) > 0
    for (const { groupId } of step.groups ?? []) groupIds.add(groupId)
    book = await storeStep(deps, owned, { book, readAfter }, step)
  }
  const isAll = book.isComparing === 1 || started.syncedAt === null
  if (isAll) {
    await removeUnfound(deps, owned, book)
    if (started.cursor === null) await removeOtherGroups(deps, owned, book, groupIds)
    await inTransaction(deps, owned, (tx) => unreadableContacts.removeBefore(tx, book.id, book.round))
  }
  const nowMs = deps.clock.now()
  const isDue = hasChanged || isAll || book.syncedAt === null || nowMs - book.syncedAt >= RECORD_MS
  if (isDue) await save(deps, owned, book, { isComparing: 0, syncedAt: nowMs })
}

/** A listing that begins again: what an earlier one stored may be deleted since. `book` may be older than that. */
async function beginRound(deps: AccountBooksDeps, owned: OwnedBooks, book: BookRow): Promise<BookRow> {
  if (book.cursor !== null) return book
  const { contacts, unreadable } = (await bookStore(deps.db.read).get(book.id)) ?? book
  return contacts + unreadable > 0 ? save(deps, owned, book, { round: book.round + 1 }) : book
}

/** Deletes the groups that a complete listing has not found. */
async function removeOtherGroups(
  deps: AccountBooksDeps,
  owned: OwnedBooks,
  book: BookRow,
  listedIds: ReadonlySet<string>,
): Promise<void> {
  const stored = await listObjectGroups(deps.db.read, book)
  const gone = stored.filter(({ providerId }) => !listedIds.has(providerId))
  for (const { id } of gone) await removeStoredGroup(deps, owned, book, id, book.syncedAt !== null)
}

/** In small transactions. The last one has the cursor, so after a crash the others are applied again and change nothing. */
async function storeStep(
  deps: AccountBooksDeps,
  owned: OwnedBooks,
  { book, readAfter }: { book: BookRow; readAfter: number },
  step: ContactStep,
): Promise<BookRow> {
  const { clock } = deps
  const { provider } = owned
  const isAnnounced = book.syncedAt !== null
  const { groups = [] } = step
  // An object may turn from a contact into a group, and back.
  const parts = splitIntoParts({ ...step, removed: [...step.removed, ...groups.map(({ groupId }) => groupId)] })
  const noGroups = [...step.removed, ...step.found.map(({ contactId }) => contactId)]
  const groupsGone = await findObjectGroups(deps.db.read, owned.accountId, noGroups)
  const hasGroups = groupsGone.length > 0 || groups.length > 0
  for (const [index, part] of parts.entries()) {
    const counts = await inTransaction(deps, owned, async (tx) => {
      // The API may have deleted contacts since, and a request may have counted.
      const current = (await bookStore(tx).get(book.id)) ?? book
      const context = { book: current, provider, nowMs: clock.now(), isAnnounced, source: { readAfter } }
      const applied = await applyChanges(deps, tx, context, part)
      if (!hasGroups && index === parts.length - 1) await bookStore(tx).update(book.id, { cursor: step.cursor })
      return applied
    })
    owned.onStored?.(counts)
    if (counts.unreadable.length > 0) owned.onUnreadable?.(book, counts.unreadable)
  }
  for (const group of groups) await storeGroup(deps, owned, book, group, isAnnounced)
  for (const { id } of groupsGone) await removeStoredGroup(deps, owned, book, id, isAnnounced)
  if (!hasGroups) return { ...book, cursor: step.cursor }
  return save(deps, owned, book, { cursor: step.cursor })
}

function splitIntoParts({ found, removed, unreadable }: ContactStep) {
  const parts: Pick<ContactStep, 'found' | 'removed' | 'unreadable'>[] = []
  for (let at = 0; at < found.length; at += CONTACTS_PER_TRANSACTION) {
    parts.push({ found: found.slice(at, at + CONTACTS_PER_TRANSACTION), removed: [] })
  }
  for (let at = 0; at < removed.length; at += CONTACTS_PER_TRANSACTION) {
    parts.push({ found: [], removed: removed.slice(at, at + CONTACTS_PER_TRANSACTION) })
  }
  const last = parts.pop() ?? { found: [], removed: [] }
  return [...parts, { ...last, ...(unreadable !== undefined && { unreadable }) }]
}

async function save(
  deps: AccountBooksDeps,
  owned: OwnedBooks,
  book: BookRow,
  changes: Partial<BookRow>,
): Promise<BookRow> {
  await inTransaction(deps, owned, (tx) => bookStore(tx).update(book.id, changes))
  return { ...book, ...changes }
}
