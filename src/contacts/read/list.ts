import { type SqlBool, sql } from 'kysely'
import { countMatching, type Handle } from '../../platform/db/index.ts'
import type { PageRequest } from '../../platform/formats/pagination.ts'
import { emailKey, phoneKey } from '../search-text.ts'
import type { BookRow, ContactRow, GroupRow } from '../store.ts'

export interface ContactFilter {
  accountId: string
  bookId?: string | undefined
  email?: string | undefined
  phone?: string | undefined
  group?: GroupRow | undefined
  /** Each must be in the search text. */
  words: readonly string[]
}

export type ContactPosition = readonly [sortName: string, id: string]

interface ListedContacts {
  /** By name, one more than the limit when there is one. */
  rows: ContactRow[]
  total: { count: number; capped: boolean }
}

/** A list with at most so many matches is read once, for its page and its total. */
const MAX_READ_ONCE = 1000
/** A group with at most so many members is read from its members; a larger one in the order of names, where a page is full soon. */
const MAX_SMALL_GROUP = 3000

/** A page of contacts. The index of names has what a search reads, so that contents are read for the page only. */
export async function listContacts(
  handle: Handle,
  filter: ContactFilter,
  books: readonly BookRow[],
  request: PageRequest<ContactPosition>,
): Promise<ListedContacts> {
  const { ids, total } = isFiltered(filter)
    ? await readFiltered(handle, filter, request)
    : { ids: await readPage(matching(handle, filter, false), request), total: addCounts(filter, books) }
  const rows = ids.length === 0 ? [] : await handle.selectFrom('contacts').selectAll().where('id', 'in', ids).execute()
  const byId = new Map(rows.map((row) => [row.id, row]))
  return { rows: ids.flatMap((id) => byId.get(id) ?? []), total }
}

function isFiltered({ email, phone, group, words }: ContactFilter): boolean {
  return email !== undefined || phone !== undefined || group !== undefined || words.length > 0
}

/** Without a filter, the number is stored. */
function addCounts({ bookId }: ContactFilter, books: readonly BookRow[]): ListedContacts['total'] {
  const own = books.filter(({ id }) => bookId === undefined || id === bookId)
  return { count: own.reduce((sum, { contacts }) => sum + contacts, 0), capped: false }
}

async function readFiltered(
  handle: Handle,
  filter: ContactFilter,
  request: PageRequest<ContactPosition>,
): Promise<{ ids: string[]; total: ListedContacts['total'] }> {
  const members = filter.group === undefined ? 0 : await countMembers(handle, filter.group)
  const query = matching(handle, filter, members <= MAX_SMALL_GROUP)
  if (members <= MAX_READ_ONCE) {
    const all = await readPage(query, { page: 1, offset: 0, limit: MAX_READ_ONCE })
    const start = request.after === undefined ? request.offset : all.indexOf(request.after[1]) + 1
    const isKnown = request.after === undefined || start > 0
    if (all.length <= MAX_READ_ONCE && isKnown) {
      return { ids: all.slice(start, start + request.limit + 1), total: { count: all.length, capped: false } }
    }
  }
  return { ids: await readPage(query, request), total: await countMatching(handle, query.select('contacts.id')) }
}

/** At most one more than the limit of a small group. */
async function countMembers(handle: Handle, { id }: GroupRow): Promise<number> {
  const members = handle.selectFrom('contactGroupMembers').select('groupId').where('groupId', '=', id)
  const { count } = await handle
    .selectFrom(members.limit(MAX_SMALL_GROUP + 1).as('members'))
    .select((eb) => eb.fn.countAll<number | string>().as('count'))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** The ids of a page, one more than its limit when there is one. */
async function readPage(
  query: ReturnType<typeof matching>,
  { after, offset, limit }: PageRequest<ContactPosition>,
): Promise<string[]> {
  const found = await query
    .select(['contacts.id', 'contacts.sortName'])
    .$if(after !== undefined, (rest) =>
      rest.where(sql<SqlBool>`("contacts"."sortName", "contacts"."id") > (${after?.[0] ?? ''}, ${after?.[1] ?? ''})`),
    )
    .orderBy('contacts.sortName')
    .orderBy('contacts.id')
    .limit(limit + 1)
    .offset(offset)
    .execute()
  return found.map(({ id }) => id)
}

/** `isSmallGroup`: of the filter's group, or without one. */
function matching(
  handle: Handle,
  { accountId, bookId, email, phone, group, words }: ContactFilter,
  isSmallGroup: boolean,
) {
  const withKey = (kind: 'email' | 'phone', value: string) =>
    handle
      .selectFrom('contactKeys')
      .select('contactId')
      .where('accountId', '=', accountId)
      .where('kind', '=', kind)
      .where('value', '=', value)
  // With a condition of the account, SQLite reads all of its contacts in the order of their names instead of the few.
  const isOfFew = email !== undefined || phone !== undefined || (group !== undefined && isSmallGroup)
  let query = handle.selectFrom('contacts')
  if (!isOfFew) query = query.where('contacts.accountId', '=', accountId)
  if (bookId !== undefined) query = query.where('contacts.bookId', '=', bookId)
  if (email !== undefined) query = query.where('contacts.id', 'in', withKey('email', emailKey(email)))
  if (phone !== undefined) query = query.where('contacts.id', 'in', withKey('phone', phoneKey(phone)))
  if (group !== undefined) {
    const members = handle
      .selectFrom('contactGroupMembers')
      .select(['bookId', 'memberUid'])
      .where('groupId', '=', group.id)
    query = isSmallGroup
      ? query.where(sql<SqlBool>`("contacts"."bookId", "contacts"."uid") in ${members}`)
      : query.where(({ exists, selectFrom }) =>
          exists(
            selectFrom('contactGroupMembers')
              .select('groupId')
              .where('groupId', '=', group.id)
              .whereRef('contactGroupMembers.bookId', '=', 'contacts.bookId')
              .whereRef('contactGroupMembers.memberUid', '=', 'contacts.uid'),
          ),
        )
  }
  for (const word of words) {
    const pattern = `%${word.replaceAll(/[\\%_]/g, '\\$&')}%`
    query = query.where(sql<SqlBool>`"contacts"."searchText" like ${pattern} escape '\\'`)
  }
  return query
}
