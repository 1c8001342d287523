import { randomUUID } from 'node:crypto'
import { numberApiChange, readLive } from '../../accounts/index.ts'
import type { Recorder } from '../../events/index.ts'
import { deriveUuid } from '../../platform/crypto/derived-uuid.ts'
import type { Tx } from '../../platform/db/index.ts'
import { AppError, type ErrorDetail, invalid, invalidFields } from '../../platform/errors/app-error.ts'
import type { ContactEdits, ContactFields, RemoteContact } from '../../providers/contract/index.ts'
import type { ContactView } from '../api.ts'
import { findPerson } from '../people/list.ts'
import { type ContactAccessDeps, contactAccess, LIVE_MS, type OpenAccount } from '../read/access.ts'
import { getBook, getContact, toViews } from '../read/reader.ts'
import { type BookRow, bookStore, type ContactRow, contactStore } from '../store.ts'
import { applyChanges, sameContent } from '../sync/apply.ts'
import { CONTACTS_TOPIC } from '../topic.ts'
import { currentGroups, parseGroups } from './group-input.ts'
import { type ContactBody, EMPTY_CONTACT, parseContactInput } from './input.ts'

interface ContactChangeDeps extends ContactAccessDeps {
  events: Recorder
}

/** How often a contact is read again that others change at the same time. After that, sync finds its state. */
const MAX_READS = 3

interface Opened extends OpenAccount {
  book: BookRow
  edits: ContactEdits
}

/** What the provider accepted. */
interface Accepted extends Opened {
  /** The row that the request began with. */
  before: ContactRow | undefined
  contact: RemoteContact
}

/**
 * Changes single contacts for API requests: at the provider first, then in the store, with the events. Methods throw `not_found`,
 * `consent_required`, and `not_supported` for what the provider cannot do, and for address books that may only be read.
 */
export function contactChanger(deps: ContactChangeDeps) {
  const { db, bus, clock, accounts } = deps
  const { open } = contactAccess(deps)

  async function openForChange(idOrAlias: string, findBook: (books: BookRow[], accountId: string) => Promise<BookRow>) {
    const opened = await open(idOrAlias, ['contacts.read', 'contacts.change'])
    const { id: accountId } = opened.account
    const book = await findBook(await bookStore(db.read).all(accountId), accountId)
    if (book.isWritable === 0) {
      throw new AppError('not_supported', { message: 'The contacts of this address book can only be read.' })
    }
    return { ...opened, book, edits: opened.provider.edits(await accounts.access(accountId)) }
  }

  async function openContact(idOrAlias: string, contactId: string): Promise<Opened & { row: ContactRow }> {
    let row: ContactRow | undefined
    const opened = await openForChange(idOrAlias, async (books, accountId) => {
      if ((await findPerson(db.read, accountId, contactId)) !== undefined) throw notOfABook()
      row = await getContact(db.read, accountId, contactId)
      return getBook(books, row.bookId)
    })
    return { ...opened, row: row ?? (await getContact(db.read, opened.account.id, contactId)) }
  }

  /** Stores the provider's version, unless sync or another request stored another one meanwhile: nobody knows which is newer. */
  async function store(tx: Tx, { account, book, before, contact }: Accepted): Promise<boolean> {
    await accounts.hold(tx, account.id)
    const current = await bookStore(tx).get(book.id)
    if (current === undefined) throw new AppError('not_found', { message: 'The address book no longer exists.' })
    const row = (await contactStore(tx, book.id).byProviderIds([contact.contactId])).get(contact.contactId)
    if (row !== undefined && !sameContent(row.content, contact) && !isSameState(row, before)) return false
    const apiChange = await numberApiChange(tx, account.id)
    const context = { book: current, provider: account.provider, nowMs: clock.now(), isAnnounced: true }
    await applyChanges(deps, tx, { ...context, source: { apiChange } }, { found: [contact], removed: [] })
    // Groups may be objects of their own, which only a sync reads.
    tx.afterCommit(() => bus.publish(CONTACTS_TOPIC, account.id))
    return true
  }

  async function storedView(tx: Tx, { account, book, contact }: Accepted): Promise<ContactView> {
    const row = (await contactStore(tx, book.id).byProviderIds([contact.contactId])).get(contact.contactId)
    const [view] = row === undefined ? [] : await toViews(tx, [row], account.provider)
    if (view === undefined) throw new AppError('not_found', { message: 'The contact was deleted meanwhile.' })
    return view
  }

  async function storeChange(accepted: Accepted): Promise<ContactView> {
    const { account, book, edits } = accepted
    for (let reads = 0, current = accepted; ; reads += 1) {
      const isLast = reads >= MAX_READS
      const result = await db.transaction(async (tx) => {
        const isStored = await store(tx, current)
        return isStored || isLast ? storedView(tx, current) : undefined
      })
      if (result !== undefined) return result
      const target = { bookId: book.providerId, contactId: current.contact.contactId }
      const before = await getContactByProviderId(target.contactId)
      const contact = await readLive('The contact', () => edits.getContact(target, AbortSignal.timeout(LIVE_MS)))
      current = { ...current, before, contact }
      if (isLast) bus.publish(CONTACTS_TOPIC, account.id)
    }

    async function getContactByProviderId(contactId: string): Promise<ContactRow | undefined> {
      return (await contactStore(db.read, book.id).byProviderIds([contactId])).get(contactId)
    }
  }

  return {
    /** Creates a contact at the provider; the function returned stores it. Requests with the same key create one contact. */
    async create(
      idOrAlias: string,
      { addressBookId, ...body }: ContactBody & { addressBookId?: string | undefined },
      requestKey: string | null,
    ): Promise<(tx: Tx) => Promise<ContactView>> {
      const fields = checked(body)
      const opened = await openForChange(idOrAlias, async (books) => {
        const book = addressBookId === undefined ? books[0] : getBook(books, addressBookId)
        if (book === undefined) throw new AppError('not_supported', { message: 'The account has no address book.' })
        return book
      })
      requireSomething(fields)
      const { account, book, edits } = opened
      const place = { accountId: account.id, provider: account.provider }
      const { joinGroups, categories = [] } = await parseGroups(db.read, place, body.groups, [])
      const contact = await readLive('The contact', () =>
        edits.createContact({
          bookId: book.providerId,
          key: requestKey === null ? randomUUID() : deriveUuid(requestKey),
          contact: { ...EMPTY_CONTACT, ...fields, categories },
          joinGroups,
          signal: AbortSignal.timeout(LIVE_MS),
        }),
      )
      const accepted: Accepted = { ...opened, before: undefined, contact }
      return async (tx) => {
        await store(tx, accepted)
        return storedView(tx, accepted)
      }
    },

    async update(
      idOrAlias: string,
      contactId: string,
      body: ContactBody,
      ifMatch: number | undefined,
    ): Promise<ContactView> {
      const fields = checked(body)
      const opened = await openContact(idOrAlias, contactId)
      const { account, book, edits, row } = opened
      const place = { accountId: account.id, provider: account.provider }
      if (ifMatch !== undefined && ifMatch !== row.version) throw await outdated(opened)
      const current = await currentGroups(db.read, row)
      const { joinGroups, leaveGroups, categories } = await parseGroups(db.read, place, body.groups, current)
      const stored: RemoteContact = JSON.parse(row.content)
      const request = {
        bookId: book.providerId,
        contactId: row.providerId,
        changes: { ...fields, ...(categories !== undefined && { categories }) },
        joinGroups,
        leaveGroups,
        etag: ifMatch === undefined ? null : stored.etag,
        signal: AbortSignal.timeout(LIVE_MS),
      }
      const contact = await readLive('The contact', () => edits.updateContact(request)).catch(
        async (error: unknown) => {
          const isConflict = error instanceof AppError && error.code === 'conflict'
          if (!isConflict || ifMatch === undefined) throw error
          bus.publish(CONTACTS_TOPIC, account.id)
          throw await outdated(opened)
        },
      )
      return storeChange({ ...opened, before: row, contact })
    },

    async remove(idOrAlias: string, contactId: string): Promise<void> {
      const { account, book, edits, row } = await openContact(idOrAlias, contactId)
      const request = { bookId: book.providerId, contactId: row.providerId, etag: null }
      const signal = AbortSignal.timeout(LIVE_MS)
      await readLive('The contact', () => edits.deleteContact({ ...request, signal }))
      await db.transaction(async (tx) => {
        await accounts.hold(tx, account.id)
        const current = await bookStore(tx).get(book.id)
        if (current === undefined) return
        const apiChange = await numberApiChange(tx, account.id)
        const context = { book: current, provider: account.provider, nowMs: clock.now(), isAnnounced: true }
        await applyChanges(deps, tx, { ...context, source: { apiChange } }, { found: [], removed: [row.providerId] })
        await bookStore(tx).update(book.id, { apiDeletion: apiChange })
      })
    },
  }

  async function outdated({ account, row }: { account: OpenAccount['account']; row: ContactRow }): Promise<AppError> {
    const [current] = await toViews(db.read, [row], account.provider)
    return new AppError('conflict', {
      message: `The contact has version ${row.version}, or was changed at the provider.`,
      ...(current !== undefined && { current }),
    })
  }
}

export type ContactChanger = ReturnType<typeof contactChanger>

function checked(body: ContactBody) {
  const errors: ErrorDetail[] = []
  const fields = parseContactInput(body, errors)
  if (errors.length > 0) throw invalidFields(errors)
  return fields
}

function notOfABook(): AppError {
  return new AppError('not_supported', {
    message: 'Only contacts of address books can be changed. Create one with this address.',
  })
}

/** Providers refuse a contact that says nothing, each in its own words. */
function requireSomething(fields: Partial<ContactFields>): void {
  const { displayName, givenName, middleName, surname, nickname, companyName, emails = [], phoneNumbers = [] } = fields
  const texts = [displayName, givenName, middleName, surname, nickname, companyName]
  if (texts.some((text) => text !== undefined && text !== '') || emails.length + phoneNumbers.length > 0) return
  throw invalid('body.displayName', 'must be given, or another name, a company, an email address or a phone number')
}

/** Columns that change whenever a row is written, or confirmed. */
function isSameState(row: ContactRow, before: ContactRow | undefined): boolean {
  if (before === undefined) return false
  const { version, apiChange, confirmations } = before
  return row.version === version && row.apiChange === apiChange && row.confirmations === confirmations
}
