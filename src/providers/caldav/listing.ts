import { DAY_MS } from '../../platform/calendar/days.ts'
import { eachInTurns } from '../../platform/concurrency/event-loop.ts'
import { ProviderError, type TimeRange } from '../contract/index.ts'
import type { Collection } from './collection.ts'
import { isOwnPath, pathReader } from './http/hrefs.ts'
import { isGone } from './http/multistatus.ts'
import { etagsQueryBody, propfindBody } from './http/requests.ts'

const MAX_OBJECTS = 50_000
/** About 250 bytes for each object. */
export const MAX_LISTING_BYTES = 16 * 1024 * 1024
const MAX_LISTINGS = 100
const YEAR_MS = 365 * DAY_MS
const LISTING = 'listing the events'

/**
 * Paths of the objects with an event in the range, one of whose bounds may be infinite, that has the property, if one is given. A range
 * of which the server lists only a part (507: RFC 4791, 7.8) is listed in halves.
 */
export async function pathsInRange(
  collection: Collection,
  range: TimeRange,
  property?: 'RRULE' | 'RDATE',
): Promise<string[]> {
  const { client, url, signal } = collection
  const found = new Set<string>()
  const left = [range]
  for (let requests = 0; left.length > 0; requests += 1) {
    const [next = range] = left.splice(-1)
    const body = etagsQueryBody(next, property)
    const request = { method: 'REPORT', url, depth: '1', body, signal, maxBytes: MAX_LISTING_BYTES } as const
    const { resources, url: base } = await client.read({ ...request, doing: LISTING })
    // By its path, a server may still give what it fails to list.
    const hrefs = resources.filter(({ status }) => !isGone(status)).map(({ href }) => href)
    for (const path of await ownPaths(hrefs, url, base)) found.add(path)
    if (resources.some(({ status }) => status === 507)) left.push(...splitRange(next))
    if (found.size > MAX_OBJECTS || requests >= MAX_LISTINGS) throw incomplete()
  }
  return [...found]
}

/** An infinite range loses one year after the other. */
function splitRange({ from, to }: TimeRange): TimeRange[] {
  if (to - from < DAY_MS) throw incomplete()
  const middle = Number.isFinite(to - from) ? (from + to) / 2 : Number.isFinite(from) ? from + YEAR_MS : to - YEAR_MS
  return [
    { from, to: middle },
    { from: middle, to },
  ]
}

function incomplete(): ProviderError {
  return new ProviderError('limit_exceeded', `${LISTING}: the CalDAV server does not list all of them`)
}

/** Paths and ETags of everything in the calendar. */
export async function listEtags({ client, url, signal }: Collection): Promise<Map<string, string>> {
  const body = propfindBody(['D:getetag'])
  const request = { method: 'PROPFIND', url, depth: '1', body, signal, maxBytes: MAX_LISTING_BYTES } as const
  const { resources, url: base } = await client.read({ ...request, doing: LISTING })
  const etags = new Map<string, string>()
  const readPath = pathReader(base)
  await eachInTurns(resources, ({ href, properties }) => {
    const path = readPath(href)
    if (path === undefined || !isOwnPath(path, url)) return
    etags.set(path, properties.get('D:getetag')?.text.trim() ?? '')
  })
  return etags
}

/** The paths of what is directly in the collection, at most 50,000. */
export async function ownPaths(hrefs: readonly string[], collection: URL, base: URL): Promise<string[]> {
  const own = new Set<string>()
  const readPath = pathReader(base)
  await eachInTurns(hrefs, (href) => {
    const path = own.size < MAX_OBJECTS ? readPath(href) : undefined
    if (path !== undefined && isOwnPath(path, collection)) own.add(path)
  })
  return [...own]
}
