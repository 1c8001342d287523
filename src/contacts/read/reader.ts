import type { Account } from '../../accounts/index.ts'
import type { Handle } from '../../platform/db/index.ts'
import { invalid, notFound } from '../../platform/errors/app-error.ts'
import { buildPage, type Page, type PageQuery, pageRequest } from '../../platform/formats/pagination.ts'
import { isoTime } from '../../platform/time/time.ts'
import type { ProviderName, RemoteContact } from '../../providers/contract/index.ts'
import { type ContactView, contactView } from '../api.ts'
import { groupsOfMembers, memberKey } from '../groups.ts'
import { findPerson, listPeople, personView } from '../people/list.ts'
import { emailKey, searchWords } from '../search-text.ts'
import { type BookRow, bookStore, type ContactRow, type GroupRow } from '../store.ts'
import { unreadableContacts } from '../unreadable.ts'
import { type ContactAccessDeps, contactAccess } from './access.ts'
import { listContacts } from './list.ts'

interface ContactQuery extends PageQuery {
  email?: string | undefined
  phone?: string | undefined
  group?: string | undefined
  addressBookId?: string | undefined
  q?: string | undefined
  source?: 'address_book' | 'inbox' | undefined
}

interface ContactPage extends Page<ContactView> {
  /** When all address books were last known to be current; null until the first sync is complete. */
  syncedAt: string | null
}

/** Reads contacts for the API, as they are stored. */
export function contactReader(deps: ContactAccessDeps) {
  const { db } = deps
  const { open } = contactAccess(deps)

  /** These people have no number, group or address book. */
  async function peoplePage({ id: accountId, provider }: Account, query: ContactQuery): Promise<ContactPage> {
    for (const name of ['phone', 'group', 'addressBookId'] as const) {
      if (query[name] !== undefined) throw invalid(`query.${name}`, 'cannot be used with source=inbox')
    }
    const filter = {
      accountId,
      email: query.email === undefined ? undefined : emailKey(query.email),
      words: searchWords(query.q ?? ''),
    }
    const fingerprint = ['people', accountId, filter.email, filter.words]
    const request = pageRequest(query, fingerprint, ['text', 'text'])
    const { rows, total } = await listPeople(db.read, filter, request)
    const page = buildPage(rows, request, total, fingerprint, (row) => [row.sortName, row.id])
    return { ...page, items: page.items.map((row) => personView(row, provider)), syncedAt: null }
  }

  return {
    async contacts(idOrAlias: string, query: ContactQuery): Promise<ContactPage> {
      const { account } = await open(idOrAlias)
      const { id: accountId, provider } = account
      if (query.source === 'inbox') return peoplePage(account, query)
      const books = await bookStore(db.read).all(accountId)
      const group = query.group === undefined ? undefined : await getGroup(db.read, accountId, query.group)
      const book = query.addressBookId === undefined ? undefined : getBook(books, query.addressBookId)
      const filter = {
        accountId,
        bookId: book?.id,
        email: query.email,
        phone: query.phone,
        group,
        words: searchWords(query.q ?? ''),
      }
      const fingerprint = ['contacts', accountId, book?.id, query.email, query.phone, group?.id, filter.words]
      const request = pageRequest(query, fingerprint, ['text', 'text'])
      const { rows, total } = await listContacts(db.read, filter, books, request)
      const page = buildPage(rows, request, total, fingerprint, (row) => [row.sortName, row.id])
      return { ...page, items: await toViews(db.read, page.items, provider), syncedAt: syncedAt(books) }
    },

    async contact(idOrAlias: string, contactId: string): Promise<ContactView> {
      const { account } = await open(idOrAlias)
      const person = await findPerson(db.read, account.id, contactId)
      if (person !== undefined) return personView(person, account.provider)
      const row = await getContact(db.read, account.id, contactId)
      const [view] = await toViews(db.read, [row], account.provider)
      if (view === undefined) throw notFound('contact', contactId)
      return view
    },

    /** The groups by name, with the number of their members. Categories exist as long as they have some. */
    async groups(idOrAlias: string): Promise<{ accountId: string; rows: (GroupRow & { memberCount: number })[] }> {
      const { account } = await open(idOrAlias)
      const rows = await db.read
        .selectFrom('contactGroups')
        .selectAll()
        .select((eb) =>
          eb
            .selectFrom('contactGroupMembers')
            .select((inner) => inner.fn.countAll<number | string>().as('count'))
            .whereRef('contactGroupMembers.groupId', '=', 'contactGroups.id')
            .as('memberCount'),
        )
        .where('accountId', '=', account.id)
        .limit(MAX_GROUPS)
        .execute()
      return {
        accountId: account.id,
        rows: rows.map((row) => ({ ...row, memberCount: Number(row.memberCount ?? 0) })),
      }
    },

    async books(idOrAlias: string): Promise<{ provider: ProviderName; accountId: string; rows: BookRow[] }> {
      const { account } = await open(idOrAlias)
      return { provider: account.provider, accountId: account.id, rows: await bookStore(db.read).all(account.id) }
    },

    unreadable: (books: readonly BookRow[]) => unreadableContacts.readSome(db.read, books),
  }
}

const MAX_GROUPS = 2000

export type ContactReader = ReturnType<typeof contactReader>

/** By our id, or the provider's. Throws `not_found`. */
export async function getContact(handle: Handle, accountId: string, id: string): Promise<ContactRow> {
  const row = await handle
    .selectFrom('contacts')
    .selectAll()
    .where('id', '=', id)
    .where('accountId', '=', accountId)
    .executeTakeFirst()
  if (row === undefined) throw notFound('contact', id)
  return row
}

/** By our id. Throws `not_found`. */
export async function getGroup(handle: Handle, accountId: string, id: string): Promise<GroupRow> {
  const row = await handle
    .selectFrom('contactGroups')
    .selectAll()
    .where('id', '=', id)
    .where('accountId', '=', accountId)
    .executeTakeFirst()
  if (row === undefined) throw notFound('group', id)
  return row
}

/** By our id, or the provider's. Throws `not_found`. */
export function getBook(books: readonly BookRow[], id: string): BookRow {
  const book = books.find((row) => row.id === id || row.providerId === id)
  if (book === undefined) throw notFound('address book', id)
  return book
}

export async function toViews(
  handle: Handle,
  rows: readonly ContactRow[],
  provider: ProviderName,
): Promise<ContactView[]> {
  const groups = await groupsOfMembers(handle, rows)
  return rows.map((row) => {
    const content: RemoteContact = JSON.parse(row.content)
    return contactView({ ...row, content }, provider, groups.get(memberKey(row)) ?? [])
  })
}

function syncedAt(books: readonly BookRow[]): string | null {
  const times = books.map((book) => book.syncedAt)
  if (times.length === 0 || times.includes(null)) return null
  return isoTime(Math.min(...times.map((time) => time ?? 0)))
}
