import { ProviderError } from '../contract/index.ts'
import { type DavCollection, resolveUrl } from '../shared/dav/index.ts'

/** An address book whose objects are read or written. */
export interface Book extends DavCollection {
  accountId: string
}

const MAX_URL = 2000

/** Throws `not_found` for what cannot be an address book of the server. */
export function bookUrl(bookId: string, base: URL): URL {
  const url = bookId.length <= MAX_URL && bookId.startsWith('/') ? resolveUrl(bookId, base) : undefined
  if (url === undefined || url.origin !== base.origin) {
    throw new ProviderError('not_found', 'reading the address book: this is not the path of an address book')
  }
  return url
}
