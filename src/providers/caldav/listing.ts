import { DAY_MS } from '../../platform/calendar/days.ts'
import { ProviderError, type TimeRange } from '../contract/index.ts'
import { isGone, MAX_LISTING_BYTES, MAX_OBJECTS, ownPaths } from '../shared/dav/index.ts'
import type { Collection } from './collection.ts'
import { etagsQueryBody } from './requests.ts'

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
