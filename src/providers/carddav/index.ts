/**
 * Contacts over CardDAV (RFC 6352), for imap accounts: address books are found as calendars are (RFC 6764), changes come by sync tokens
 * (RFC 6578), objects are vCards (RFC 2426, RFC 6350). Knows no database and no routes.
 */
import { type ContactsAccount, type ContactsProvider, type MailAccess, ProviderError } from '../contract/index.ts'
import { type DavAccount, type DavDeps, davAccounts, isOwnPath, resolvePath } from '../shared/dav/index.ts'
import { listBooks } from './books.ts'
import { type Book, bookUrl } from './collection.ts'
import { carddavEdits } from './edits.ts'
import { type BookHome, CARDDAV, toBookHome } from './home.ts'
import { readCardPhoto } from './photo.ts'
import { syncContacts } from './sync.ts'

export function carddavProvider(deps: DavDeps): ContactsProvider {
  const accounts = davAccounts<BookHome>(deps, CARDDAV, toBookHome)

  function openBooks(account: DavAccount<BookHome>, { accountId }: MailAccess) {
    return async (bookId: string, signal: AbortSignal): Promise<Book> => {
      const home = await account.readHome(signal, true)
      const base = home?.homes[0]
      if (base === undefined) {
        throw new ProviderError('not_found', 'reading the address book: the account has no address books')
      }
      return { accountId, client: account.client, url: bookUrl(bookId, base), signal }
    }
  }

  return {
    open(access): ContactsAccount {
      const account = accounts.open(access)
      const getBook = openBooks(account, access)
      const { trusts } = accounts.openClient(access)
      return {
        async listBooks(signal, isKnown = false) {
          const home = await account.readHome(signal, isKnown)
          try {
            return home === null ? [] : await listBooks(account.client, home, signal)
          } catch (error) {
            account.forgetHome()
            throw error
          }
        },
        async *syncContacts({ bookId, cursor, again = [], signal }) {
          yield* syncContacts(await getBook(bookId, signal), { cursor, again })
        },
        async readPhoto({ bookId, contactId, maxBytes, signal }) {
          const book = await getBook(bookId, signal)
          if (resolvePath(contactId, book.url) !== contactId || !isOwnPath(contactId, book.url)) {
            throw new ProviderError('not_found', 'reading the photo of a contact: not found')
          }
          return readCardPhoto(book, contactId, { maxBytes, trusts })
        },
      }
    },

    edits(access) {
      const getBook = openBooks(accounts.open(access), access)
      return carddavEdits({ getBook, now: deps.clock.now })
    },
  }
}
