import { DAY_MS, parseDay } from '../../../platform/calendar/days.ts'
import { ProviderError, type TimeRange } from '../../contract/index.ts'
import { type Json, object, PageLinks, text } from '../../shared/rest/index.ts'
import { SYNC_LIMITS } from '../client.ts'
import { AS_TEXT } from '../map.ts'
import { PageSize, withTop } from '../page-size.ts'
import { EVENT_FIELDS, readType } from './map.ts'
import { type CalendarContext, calendarPath } from './series.ts'

const PAGE = 100
/** The size of a page of items without bodies. */
const LIGHT_PAGE = 1000
/** Events among which a repeated creation is searched. */
const MAX_SEARCHED = 5000
/** Graph refuses longer views. */
export const MAX_VIEW_MS = 1825 * DAY_MS

/** The calendar view of a range of at most five years: every instance, complete. */
export function readView(
  context: CalendarContext,
  { from, to }: TimeRange,
  maxEvents: number,
  fields = EVENT_FIELDS,
): Promise<Json[]> {
  const bounds = { startDateTime: new Date(from).toISOString(), endDateTime: new Date(to).toISOString() }
  return readAll(context, 'calendarView', { ...bounds, $select: fields }, maxEvents)
}

/** Single events and masters that begin in the range, whose bounds may be infinite. */
export function readBeginning(context: CalendarContext, range: TimeRange, maxEvents: number): Promise<Json[]> {
  return readAll(context, 'events', { ...startsIn(range), $select: EVENT_FIELDS }, maxEvents)
}

/** Masters that begin before the range, unless they end before it: nothing but their ids. */
export async function mastersInto(
  context: CalendarContext,
  { from }: TimeRange,
  maxEvents: number,
): Promise<{ id: string; type: 'seriesMaster' }[]> {
  const query = { ...startsIn({ from: Number.NEGATIVE_INFINITY, to: from }), $select: 'id,type,recurrence' }
  const items = await readAll(context, 'events', query, maxEvents, LIGHT_PAGE)
  return items.flatMap((item) => {
    const { type, endDate } = object(object(item.recurrence).range)
    const lastDay = type === 'endDate' ? parseDay(text(endDate) ?? '') : undefined
    const hasEnded = lastDay !== undefined && (lastDay + 2) * DAY_MS < from
    return readType(item) === 'seriesMaster' && !hasEnded ? [{ id: text(item.id) ?? '', type: 'seriesMaster' }] : []
  })
}

/**
 * The event that was created with this `transactionId`, by which Graph does not filter: among those that begin at most a day before or
 * after `startMs`, and those that changed since `sinceMs`. Undefined when it is in neither list.
 */
export async function findTransaction(
  context: CalendarContext,
  transactionId: string,
  { startMs, sinceMs }: { startMs: number; sinceMs: number },
): Promise<string | undefined> {
  const nearby = startsIn(withDays({ from: startMs, to: startMs + 1 }))
  const recent = { $filter: `lastModifiedDateTime ge ${new Date(sinceMs).toISOString()}` }
  for (const filter of [nearby, recent]) {
    const query = { ...filter, $select: 'id,transactionId' }
    const items = await readAll(context, 'events', query, MAX_SEARCHED, LIGHT_PAGE)
    const id = text(items.find((item) => item.transactionId === transactionId)?.id)
    if (id !== undefined) return id
  }
  return undefined
}

function startsIn({ from, to }: TimeRange): { $filter?: string } {
  const bound = (operator: string, ms: number) =>
    Number.isFinite(ms) ? [`start/dateTime ${operator} '${new Date(ms).toISOString().slice(0, 19)}'`] : []
  const filter = [...bound('ge', from), ...bound('lt', to)].join(' and ')
  return filter === '' ? {} : { $filter: filter }
}

async function readAll(
  { graph, calendarId, doing, signal }: CalendarContext,
  list: 'calendarView' | 'events',
  query: Record<string, string>,
  maxEvents: number,
  $top = PAGE,
): Promise<Json[]> {
  const request = { doing, signal, prefer: [AS_TEXT], ...SYNC_LIMITS }
  const path = `${calendarPath(calendarId)}/${list}`
  const pageSize = new PageSize()
  let page = await pageSize.read($top, (events) => graph.page(path, { ...request, query: { ...query, $top: events } }))
  const items = [...page.items]
  const links = new PageLinks(doing)
  while (page.nextLink !== undefined) {
    const next = graph.resolvePath(links.follow(page.nextLink, page.items.length), doing)
    page = await pageSize.read($top, (events) => graph.page(withTop(next, events), request))
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
