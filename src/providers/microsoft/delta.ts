import { ProviderError } from '../contract/index.ts'
import { type Graph, segment } from './graph.ts'
import type { Json, Page } from './json.ts'
import { AS_TEXT, MESSAGE_FIELDS } from './map.ts'

/** Bodies come along, so that a page is some megabytes at most. */
const PAGE_MESSAGES = 100
const PAGE_BYTES = 32 * 1024 * 1024
/** Of many folders at once, where mostly nothing changed. */
export const GLANCE_MESSAGES = 20

/** A filtered listing stops after so many without a word. */
export const FILTER_LIMIT = 5000

export interface DeltaPage {
  items: Json[]
  /** Of the next request, in this round or the next one. */
  next: string
  isLast: boolean
}

/** The first request of a folder's changes, which lists it. All that is asked for here holds for every later round. */
export function firstRequest(sinceMs: number | null): string {
  const query = {
    ...MESSAGE_FIELDS,
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

/** The pages of one round, beginning with `next`, or with the answer to it. */
export async function* deltaRound(
  graph: Graph,
  folderId: string,
  { next, glanced, signal }: { next: string; glanced?: Page | undefined; signal: AbortSignal },
): AsyncGenerator<DeltaPage> {
  const doing = 'asking for the changes of a folder'
  let from = next
  let answer = glanced
  for (;;) {
    signal.throwIfAborted()
    answer ??= await graph.page(deltaPath(folderId, from), {
      ...{ doing, signal, prefer: deltaPreferences(PAGE_MESSAGES), maxBytes: PAGE_BYTES },
    })
    const { items, nextLink, deltaLink } = answer
    const link = nextLink ?? deltaLink
    if (link === undefined) throw new ProviderError('unavailable', `${doing}: the answer has no end`)
    const following = shorten(graph.pathOf(link, doing), folderId)
    if (nextLink !== undefined && following === from)
      throw new ProviderError('unavailable', `${doing}: it does not go on`)
    yield { items, next: following, isLast: nextLink === undefined }
    if (nextLink === undefined) return
    from = following
    answer = undefined
  }
}

/** Only the token is kept where the rest is as we would write it: ids of folders are long. */
function shorten(path: string, folderId: string): string {
  const [before = '', query = ''] = path.split(/\?(.*)/s)
  const names = [segment(folderId), folderId].flatMap((id) => [`/${id}/`, `('${id}')/`])
  const isOurs = /^\/me\/mailfolders[/(]/i.test(before) && names.some((name) => before.includes(name))
  return isOurs && /\/messages\/(?:microsoft\.graph\.)?delta(?:\(\))?$/i.test(before) && query !== ''
    ? `?${query}`
    : path
}

/** Whole seconds as Graph writes them; a stand-in may know finer times. */
function graphTime(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z')
}
