import { ProviderError } from '../contract/index.ts'
import { type DavClient, resolveUrl } from '../shared/dav/index.ts'
import type { MapContext } from './events/object-mapper.ts'
import type { ObjectThread } from './object-thread.ts'

/** A calendar whose objects are read. */
export interface Collection {
  accountId: string
  client: DavClient
  thread: ObjectThread
  url: URL
  context: MapContext
  server: ServerTraits
  signal: AbortSignal
}

/** Properties of a server that need not be found out again. */
export interface ServerTraits {
  /** It finds a series by its later instances too. */
  expandsSeries: boolean
  /** It could not send objects along with a list of them. */
  onlyLists: boolean
}

const MAX_URL = 2000

/** Throws `not_found` for what cannot be a calendar of the server. */
export function collectionUrl(calendarId: string, base: URL): URL {
  const url = calendarId.length <= MAX_URL && calendarId.startsWith('/') ? resolveUrl(calendarId, base) : undefined
  if (url === undefined || url.origin !== base.origin) {
    throw new ProviderError('not_found', 'reading the calendar: this is not the path of a calendar')
  }
  return url
}
