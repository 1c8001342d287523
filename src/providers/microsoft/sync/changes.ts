import { FIRST_STEP, ProviderError } from '../../contract/index.ts'
import { type Json, PageLinks } from '../../shared/rest/index.ts'
import { type Graph, type Page, SYNC_LIMITS, segment } from '../client.ts'
import { AS_TEXT, DELTA_FIELDS } from '../map.ts'
import type { PageSize } from '../page-size.ts'

/** Pages include bodies, so this keeps a page to a few megabytes, as a rule. */
const PAGE_MESSAGES = 100
/** Page size of the batch that checks many folders, most of them unchanged. */
export const CHECK_MESSAGES = 20

/** Graph silently ends a filtered listing after this many messages. */
export const FILTER_LIMIT = 5000

export interface DeltaPage {
  items: Json[]
  /** The next request, in this round or the next one. */
  next: string
  isLast: boolean
}

/** The first delta request of a folder, which lists it. Its options apply to all later rounds. */
export function firstRequest(sinceMs: number | null): string {
  const query = {
    ...DELTA_FIELDS,
    ...(sinceMs !== null && { $filter: `receivedDateTime ge ${graphTime(sinceMs)}` }),
  }
  return `?${Object.entries(query)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&')}`
}

export function deltaPath(folderId: string, next: string): string {
  return next.startsWith('?') ? `/me/mailFolders/${segment(folderId)}/messages/delta${next}` : next
}

export function deltaPreferences(messages: number): string[] {
  return [`odata.maxpagesize=${messages}`, AS_TEXT]
}

interface DeltaRound {
  next: string
  /** `next` begins the listing of the folder. */
  isListing: boolean
  firstPage?: Page | undefined
  pageSize: PageSize
  signal: AbortSignal
}

/** The pages of one round of changes from `next` on. `firstPage` is the response to `next` if it was already received. */
export async function* deltaRound(
  graph: Graph,
  folderId: string,
  { next, isListing, firstPage, pageSize, signal }: DeltaRound,
): AsyncGenerator<DeltaPage> {
  const doing = 'reading the changes of a folder'
  const links = new PageLinks(doing)
  let from = links.follow(next, 1)
  let page = firstPage
  for (;;) {
    signal.throwIfAborted()
    const wanted = isListing && from === next ? FIRST_STEP : PAGE_MESSAGES
    const path = deltaPath(folderId, from)
    page ??= await pageSize.read(wanted, (messages) =>
      graph.page(path, { doing, signal, prefer: deltaPreferences(messages), ...SYNC_LIMITS }),
    )
    const { items, nextLink, deltaLink } = page
    const link = nextLink ?? deltaLink
    if (link === undefined) throw new ProviderError('unavailable', `${doing}: the response has no next link`)
    const following = shorten(graph.resolvePath(link, doing), folderId)
    yield { items, next: following, isLast: nextLink === undefined }
    if (nextLink === undefined) return
    from = links.follow(following, items.length)
    page = undefined
  }
}

/** Keeps only the query of a link in the usual form, because folder ids are long. */
function shorten(path: string, folderId: string): string {
  const [before = '', query = ''] = path.split(/\?(.*)/s)
  const names = [segment(folderId), folderId].flatMap((id) => [`/${id}/`, `('${id}')/`])
  const isThisFolder = /^\/me\/mailfolders[/(]/i.test(before) && names.some((name) => before.includes(name))
  return isThisFolder && /\/messages\/(?:microsoft\.graph\.)?delta(?:\(\))?$/i.test(before) && query !== ''
    ? `?${query}`
    : path
}

/** Graph writes times in whole seconds; an emulator may use finer ones. */
function graphTime(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z')
}
