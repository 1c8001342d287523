import { DAY_MS } from '../../../lib/calendar/days.ts'
import { ProviderError, type TimeRange } from '../../contract/index.ts'
import type { Json } from '../../rest/index.ts'
import { SYNC_LIMITS } from '../client.ts'
import { AS_TEXT } from '../map.ts'
import { EVENT_FIELDS } from './map.ts'
import { type CalendarContext, calendarPath } from './series.ts'

const PAGE = 100

/** The calendar view of a range: every instance, complete. */
export async function readView(
  { graph, calendarId, doing, signal }: CalendarContext,
  { from, to }: TimeRange,
  maxEvents: number,
  fields = EVENT_FIELDS,
): Promise<Json[]> {
  const query = {
    ...{ startDateTime: new Date(from).toISOString(), endDateTime: new Date(to).toISOString() },
    ...{ $select: fields, $top: PAGE },
  }
  const request = { doing, signal, prefer: [AS_TEXT], ...SYNC_LIMITS }
  let page = await graph.page(`${calendarPath(calendarId)}/calendarView`, { ...request, query })
  const items = [...page.items]
  while (page.nextLink !== undefined) {
    page = await graph.page(graph.pathOf(page.nextLink, doing), request)
    items.push(...page.items)
    if (items.length > maxEvents) {
      throw new ProviderError('limit_exceeded', `${doing}: more than ${maxEvents} events. Ask for a shorter range.`)
    }
  }
  return items
}

/** A day more on both sides: Graph compares all-day events as if they were in UTC, wherever they take place. */
export function withDays({ from, to }: TimeRange): TimeRange {
  return { from: from - DAY_MS, to: to + DAY_MS }
}
