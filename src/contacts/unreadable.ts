import { backoffMs } from '../platform/concurrency/retry.ts'
import { type Handle, insertRows, type Tx } from '../platform/db/index.ts'
import { cleanText, truncateText } from '../platform/formats/text.ts'
import type { UnreadableContact } from '../providers/contract/index.ts'
import { type BookRow, bookStore, isIndexable } from './store.ts'

/** How many are kept of an address book; a program that writes more writes all of them alike. */
const MAX_CONTACTS = 1000
/** How many the JSON of an address book names. */
const MAX_SHOWN = 10
const MAX_REASON = 300
/** How many contacts of an address book a sync reads again. */
const MAX_AGAIN = 20
const RETRY = { baseMs: 10_000, capMs: 6 * 3_600_000 }
const IDS_PER_QUERY = 500

type Place = Pick<BookRow, 'id' | 'round' | 'unreadable'>

/** Stores which contacts could not be read. `read` are ids of those that could, or are gone. Returns those whose reason is new. */
export async function saveUnreadable(
  tx: Tx,
  book: Place,
  { read, unreadable }: { read: readonly string[]; unreadable: readonly UnreadableContact[] },
  nowMs: number,
): Promise<UnreadableContact[]> {
  if (book.unreadable === 0 && unreadable.length === 0) return []
  const contacts = new Map(
    unreadable.filter(({ contactId }) => isIndexable(contactId)).map((each) => [cleanText(each.contactId), each]),
  )
  const earlier = await findStored(tx, book.id, [...contacts.keys()])
  await removeUnreadable(tx, book.id, [...read, ...earlier.keys()])
  const left = MAX_CONTACTS - (await countUnreadable(tx, book.id))
  const rows = [...contacts].slice(0, Math.max(0, left)).map(([providerId, { reason, isRefused = false }]) => {
    const failures = isRefused ? (earlier.get(providerId)?.failures ?? 0) + 1 : 0
    return {
      bookId: book.id,
      providerId,
      reason: truncateText(cleanText(reason), MAX_REASON),
      round: book.round,
      failures,
      nextAttemptAt: failures === 0 ? null : nowMs + backoffMs(failures, RETRY),
      foundAt: nowMs,
    }
  })
  await insertRows(tx, 'unreadableContacts', rows)
  await countAgain(tx, book.id)
  return rows.flatMap(({ providerId, reason }) =>
    earlier.get(providerId)?.reason === reason ? [] : [{ contactId: providerId, reason }],
  )
}

/** Ids of contacts that the provider did not return, and that are read again now. */
export async function contactsToReadAgain(handle: Handle, { id, unreadable }: Place, nowMs: number): Promise<string[]> {
  if (unreadable === 0) return []
  const rows = await handle
    .selectFrom('unreadableContacts')
    .select('providerId')
    .where('bookId', '=', id)
    .where('nextAttemptAt', '<=', nowMs)
    .orderBy('nextAttemptAt')
    .limit(MAX_AGAIN)
    .execute()
  return rows.map(({ providerId }) => providerId)
}

/** Removes what rounds before `round` could not read, because it no longer exists. */
export async function removeUnreadableBefore(tx: Tx, bookId: string, round: number): Promise<void> {
  await tx.deleteFrom('unreadableContacts').where('bookId', '=', bookId).where('round', '<', round).execute()
  await countAgain(tx, bookId)
}

/** Some of each address book that has any. */
export async function readUnreadable(
  handle: Handle,
  books: readonly Place[],
): Promise<Map<string, { providerContactId: string; reason: string }[]>> {
  const found = new Map<string, { providerContactId: string; reason: string }[]>()
  for (const { id } of books.filter(({ unreadable }) => unreadable > 0)) {
    const rows = await handle
      .selectFrom('unreadableContacts')
      .select(['providerId as providerContactId', 'reason'])
      .where('bookId', '=', id)
      .orderBy('providerId')
      .limit(MAX_SHOWN)
      .execute()
    found.set(id, rows)
  }
  return found
}

async function findStored(
  tx: Tx,
  bookId: string,
  ids: readonly string[],
): Promise<Map<string, { reason: string; failures: number }>> {
  const found = new Map<string, { reason: string; failures: number }>()
  for (let start = 0; start < ids.length; start += IDS_PER_QUERY) {
    const rows = await tx
      .selectFrom('unreadableContacts')
      .select(['providerId', 'reason', 'failures'])
      .where('bookId', '=', bookId)
      .where('providerId', 'in', ids.slice(start, start + IDS_PER_QUERY))
      .execute()
    for (const { providerId, ...row } of rows) found.set(providerId, row)
  }
  return found
}

async function removeUnreadable(tx: Tx, bookId: string, ids: readonly string[]): Promise<void> {
  for (let start = 0; start < ids.length; start += IDS_PER_QUERY) {
    await tx
      .deleteFrom('unreadableContacts')
      .where('bookId', '=', bookId)
      .where('providerId', 'in', ids.slice(start, start + IDS_PER_QUERY))
      .execute()
  }
}

async function countUnreadable(tx: Tx, bookId: string): Promise<number> {
  const { count } = await tx
    .selectFrom('unreadableContacts')
    .select((eb) => eb.fn.countAll().as('count'))
    .where('bookId', '=', bookId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

async function countAgain(tx: Tx, bookId: string): Promise<void> {
  await bookStore(tx).update(bookId, { unreadable: await countUnreadable(tx, bookId) })
}
