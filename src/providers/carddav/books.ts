import { TURN_MS, yieldIfHeld } from '../../platform/concurrency/event-loop.ts'
import { boundedBook, type RemoteBook } from '../contract/index.ts'
import { child, type DavClient, type DavResource, propfindBody, resolvePath } from '../shared/dav/index.ts'
import type { BookHome } from './home.ts'

const MAX_BOOKS = 200
const PROPERTIES = ['D:resourcetype', 'D:displayname', 'D:current-user-privilege-set']
const DOING = 'listing the address books'

/** The address books of the user's homes. */
export async function listBooks(client: DavClient, { homes }: BookHome, signal: AbortSignal): Promise<RemoteBook[]> {
  const found = new Map<string, RemoteBook>()
  const body = propfindBody(PROPERTIES)
  for (const url of homes) {
    const listing = await client.read({ method: 'PROPFIND', url, depth: '1', body, doing: DOING, signal })
    for (const resource of listing.resources) {
      await yieldIfHeld(TURN_MS)
      const path = resolvePath(resource.href, listing.url)
      if (path === undefined || found.size >= MAX_BOOKS || !isBook(resource)) continue
      found.set(path, mapBook(path, resource))
    }
  }
  const books = [...found.values()]
  const first = books.find(({ isWritable }) => isWritable) ?? books[0]
  return books.map((book) => ({ ...book, isDefault: book === first }))
}

function isBook({ status, properties }: DavResource): boolean {
  return status === 200 && child(properties.get('D:resourcetype'), 'CR:addressbook') !== undefined
}

function mapBook(path: string, { properties }: DavResource): RemoteBook {
  const list = properties.get('D:current-user-privilege-set')
  const privileges = new Set(list?.children.flatMap(({ children }) => children.map(({ name }) => name)))
  const mayWrite = ['D:all', 'D:write', 'D:write-content', 'D:bind'].some((name) => privileges.has(name))
  const name = properties.get('D:displayname')?.text.trim() ?? ''
  return boundedBook({
    bookId: path,
    name: name || decodeURIComponent(path.split('/').findLast((part) => part !== '') ?? path),
    // Without privileges, the server does not say.
    isWritable: list === undefined || mayWrite,
    isDefault: false,
  })
}
