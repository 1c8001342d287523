import type { Static } from 'typebox'
import * as Type from 'typebox'
import { rethrowProgrammingError } from '../../../platform/errors/programming-errors.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import {
  type ContactStep,
  type ContactSyncRequest,
  ProviderError,
  type RemoteContact,
  type UnreadableContact,
} from '../../contract/index.ts'
import { type Json, PageLinks, parser, text } from '../../shared/rest/index.ts'
import { type Graph, SYNC_LIMITS, segment } from '../client.ts'
import { PageSize } from '../page-size.ts'
import { CONTACT_FIELDS, remoteContact } from './map.ts'

/** The most that Graph returns at once, as users report. */
const PAGE_CONTACTS = 200
/** The cursor of an unchanged folder is renewed this often, because Graph forgets old ones. */
const RENEW_MS = 24 * 60 * 60 * 1000

const LISTING = 'listing contacts'
const READING = 'reading the changes of contacts'

const cursorSchema = Type.Object({
  v: Type.Literal(1),
  /** The next request: a query (`?$deltatoken=…`), or a path where Graph returned another form. */
  next: Type.String({ minLength: 1, maxLength: 3900 }),
  /** When Graph returned it, in ms. */
  atMs: Type.Number(),
  /** The folder is being listed. */
  isListing: Type.Optional(Type.Literal(true)),
})
type Cursor = Static<typeof cursorSchema>
const parseCursor = parser(cursorSchema)

/** Follows one delta query of a folder. */
export async function* syncFolder(
  graph: Graph,
  { bookId, cursor: written, again = [], signal }: ContactSyncRequest,
  clock: Clock,
): AsyncGenerator<ContactStep> {
  const start: Cursor = { v: 1, next: `?$select=${CONTACT_FIELDS}`, atMs: clock.now(), isListing: true }
  const first = written === null ? start : readCursor(written)
  const doing = first.isListing ? LISTING : READING
  const context = { graph, bookId, doing, signal }
  if (written !== null && again.length > 0) yield { ...(await readContacts(context, again)), cursor: written }
  const delta = `/me/contactFolders/${segment(bookId)}/contacts/delta`
  const pageSize = new PageSize()
  const links = new PageLinks(doing)
  for (let cursor = first; ; ) {
    const path = cursor.next.startsWith('?') ? delta + cursor.next : cursor.next
    const { items, nextLink, deltaLink } = await pageSize.read(PAGE_CONTACTS, (size) =>
      graph.page(path, { doing, signal, prefer: [`odata.maxpagesize=${size}`], ...SYNC_LIMITS }),
    )
    const link = nextLink ?? deltaLink
    if (link === undefined) throw new ProviderError('unavailable', `${doing}: the response has no next link`)
    const next = shorten(graph.resolvePath(link, doing), bookId)
    const isLast = nextLink === undefined
    const following: Cursor = {
      v: 1,
      next,
      atMs: clock.now(),
      ...(cursor.isListing && !isLast && { isListing: true }),
    }
    const isOld = following.atMs - cursor.atMs > RENEW_MS
    if (items.length > 0 || !isLast || cursor !== first || cursor.isListing || isOld) {
      yield { ...(await toChanges(context, items)), cursor: JSON.stringify(following) }
    }
    if (isLast) return
    cursor = { ...following, next: links.follow(next, items.length) }
  }
}

interface FolderContext {
  graph: Graph
  bookId: string
  doing: string
  signal: AbortSignal
}

type Changes = Required<Pick<ContactStep, 'found' | 'removed' | 'unreadable'>>

/** Contacts of which the delta query has returned a part only are read again. */
async function toChanges(context: FolderContext, items: readonly Json[]): Promise<Changes> {
  // The last one is what is true now.
  const latest = new Map(items.map((item) => [text(item.id) ?? '', item]))
  latest.delete('')
  const removed = [...latest].filter(([, item]) => '@removed' in item).map(([id]) => id)
  const present = [...latest].filter(([, item]) => !('@removed' in item))
  const isComplete = (item: Json) => 'displayName' in item && 'emailAddresses' in item
  const found = present.flatMap(([, item]) => (isComplete(item) && remoteContact(item)) || [])
  const partial = present.filter(([, item]) => !isComplete(item)).map(([id]) => id)
  const read = await readContacts(context, partial)
  return { found: [...found, ...read.found], removed: [...removed, ...read.removed], unreadable: read.unreadable }
}

async function readContacts({ graph, bookId, doing, signal }: FolderContext, ids: readonly string[]): Promise<Changes> {
  const items = ids.map((id) => ({ id, path: `/me/contacts/${segment(id)}`, query: { $select: CONTACT_FIELDS } }))
  const results = await graph.batch(items, { doing, signal, isolates: true })
  const found: RemoteContact[] = []
  const removed: string[] = []
  const unreadable: UnreadableContact[] = []
  for (const item of items) {
    const result = results.get(item)
    if (result instanceof ProviderError) {
      if (result.kind === 'not_found') removed.push(item.id)
      else unreadable.push({ contactId: item.id, reason: result.message, isRefused: true })
      continue
    }
    const contact = result?.parentFolderId === bookId ? remoteContact(result) : undefined
    if (contact === undefined) removed.push(item.id)
    else found.push(contact)
  }
  return { found, removed, unreadable }
}

function readCursor(written: string): Cursor {
  try {
    return parseCursor(JSON.parse(written))
  } catch (error) {
    rethrowProgrammingError(error)
    throw new ProviderError('cursor_expired', 'the stored cursor of the contacts is not readable')
  }
}

/** Keeps only the query of a link in the usual form, because ids of folders are long. */
function shorten(path: string, bookId: string): string {
  const [before = '', query = ''] = path.split(/\?(.*)/s)
  const names = [segment(bookId), bookId].flatMap((id) => [`/${id}/`, `('${id}')/`])
  const isThisFolder =
    /^\/(?:me|users\/[^/]+)\/contactFolders[/(]/i.test(before) && names.some((name) => before.includes(name))
  return isThisFolder && /\/contacts\/(?:microsoft\.graph\.)?delta(?:\(\))?$/i.test(before) && query !== ''
    ? `?${query}`
    : path
}
