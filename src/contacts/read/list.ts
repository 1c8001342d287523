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

export interface ListedContacts {
  /** By name, one more than the limit when there is one. */
  rows: ContactRow[]
  total: { count: number; capped: boolean }
}

/** A page of contacts. The index of names has what a search reads, so that contents are read for the page only. */
export async function listContacts(
  handle: Handle,
  filter: ContactFilter,
  books: readonly BookRow[],
  { after, offset, limit }: PageRequest<ContactPosition>,
): Promise<ListedContacts> {
  const found = await matching(handle, filter)
    .select(['contacts.id', 'contacts.sortName'])
    .$if(after !== undefined, (query) =>
      query.where(sql<SqlBool>`("contacts"."sortName", "contacts"."id") > (${after?.[0] ?? ''}, ${after?.[1] ?? ''})`),
    )
    .orderBy('contacts.sortName')
    .orderBy('contacts.id')
    .limit(limit + 1)
    .offset(offset)
    .execute()
  const ids = found.map(({ id }) => id)
  const rows = ids.length === 0 ? [] : await handle.selectFrom('contacts').selectAll().where('id', 'in', ids).execute()
  const byId = new Map(rows.map((row) => [row.id, row]))
  return { rows: ids.flatMap((id) => byId.get(id) ?? []), total: await countAll(handle, filter, books) }
}

/** Without a filter, the number is stored. */
async function countAll(handle: Handle, filter: ContactFilter, books: readonly BookRow[]) {
  const { email, phone, group, words } = filter
  const isFiltered = email !== undefined || phone !== undefined || group !== undefined || words.length > 0
  if (isFiltered) return countMatching(handle, matching(handle, filter).select('contacts.id'))
  const own = books.filter(({ id }) => filter.bookId === undefined || id === filter.bookId)
  return { count: own.reduce((sum, { contacts }) => sum + contacts, 0), capped: false }
}

function matching(handle: Handle, { accountId, bookId, email, phone, group, words }: ContactFilter) {
  const withKey = (kind: 'email' | 'phone', value: string) =>
    handle
      .selectFrom('contactKeys')
      .select('contactId')
      .where('accountId', '=', accountId)
      .where('kind', '=', kind)
      .where('value', '=', value)
  let query = handle.selectFrom('contacts').where('contacts.accountId', '=', accountId)
  if (bookId !== undefined) query = query.where('contacts.bookId', '=', bookId)
  if (email !== undefined) query = query.where('contacts.id', 'in', withKey('email', emailKey(email)))
  if (phone !== undefined) query = query.where('contacts.id', 'in', withKey('phone', phoneKey(phone)))
  if (group !== undefined) {
    query = query.where((eb) =>
      eb.exists(
        eb
          .selectFrom('contactGroupMembers')
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
