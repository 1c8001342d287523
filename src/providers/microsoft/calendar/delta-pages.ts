import { ProviderError, type TimeRange } from '../../contract/index.ts'
import { type Json, PageLinks } from '../../shared/rest/index.ts'
import { type Graph, SYNC_LIMITS, segment } from '../client.ts'
import { AS_TEXT } from '../map.ts'
import { PageSize } from '../page-size.ts'
import { calendarPath } from './series.ts'

/** Occurrences count as events, but Graph returns only their ids and times. */
const PAGE_EVENTS = 100

/**
 * The query of a new delta round. The range is the window of the sync (`windowAt` in `calendars/sync/calendar.ts`, from
 * SYNC_CALENDAR_WINDOW), which `sync.ts` extends by `AHEAD_MS`.
 */
export function firstRequest({ from, to }: TimeRange): string {
  return `?startDateTime=${new Date(from).toISOString()}&endDateTime=${new Date(to).toISOString()}`
}

interface DeltaPage {
  items: Json[]
  next: string
  isLast: boolean
}

/** The pages of one round of changes from `next` on. */
export async function* deltaRound(
  graph: Graph,
  calendarId: string,
  { next, doing, signal }: { next: string; doing: string; signal: AbortSignal },
): AsyncGenerator<DeltaPage> {
  const view = `${calendarPath(calendarId)}/calendarView/delta`
  const pageSize = new PageSize()
  const links = new PageLinks(doing)
  for (let from = links.follow(next, 1); ; ) {
    signal.throwIfAborted()
    const path = from.startsWith('?') ? view + from : from
    const { items, nextLink, deltaLink } = await pageSize.read(PAGE_EVENTS, (events) =>
      graph.page(path, { doing, signal, prefer: [`odata.maxpagesize=${events}`, AS_TEXT], ...SYNC_LIMITS }),
    )
    const link = nextLink ?? deltaLink
    if (link === undefined) throw new ProviderError('unavailable', `${doing}: the response has no next link`)
    const following = shorten(graph.resolvePath(link, doing), calendarId)
    yield { items, next: following, isLast: nextLink === undefined }
    if (nextLink === undefined) return
    from = links.follow(following, items.length)
  }
}

/** Keeps only the query of a link in the usual form, because calendar ids are long. */
function shorten(path: string, calendarId: string): string {
  const [before = '', query = ''] = path.split(/\?(.*)/s)
  const names = [segment(calendarId), calendarId].flatMap((id) => [`/${id}/`, `('${id}')/`])
  const isThisCalendar = /^\/me\/calendars[/(]/i.test(before) && names.some((name) => before.includes(name))
  return isThisCalendar && /\/calendarview\/(?:microsoft\.graph\.)?delta(?:\(\))?$/i.test(before) && query !== ''
    ? `?${query}`
    : path
}
