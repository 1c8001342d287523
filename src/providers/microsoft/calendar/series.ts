import { ProviderError, type RemoteEvent, type UnreadableEvent } from '../../contract/index.ts'
import { type Json, list, object, PageLinks, text } from '../../rest/index.ts'
import { bodyOf, type Graph, SYNC_LIMITS, segment } from '../client.ts'
import { AS_TEXT } from '../map.ts'
import { cancelledInstances, EVENT_FIELDS, remoteEvent, typeOf, unreadableIn } from './map.ts'

/** Of one series. The oldest cancelled instances of one with more are left out. */
const MAX_EXCEPTIONS = 1000

export interface CalendarContext {
  graph: Graph
  calendarId: string
  /** The address of the account. */
  email: string
  /** IANA: of the calendar, for events that Graph gives no zone. Null: not known. */
  timeZone: string | null
  doing: string
  signal: AbortSignal
  /** Called with what could not be read. */
  report?(event: UnreadableEvent): void
}

type MappingContext = Pick<CalendarContext, 'email' | 'timeZone' | 'report'>

/** A single event, or a series with all of its exceptions. */
export interface Unit {
  /** The single event or the master. */
  event: RemoteEvent
  exceptions: RemoteEvent[]
}

export function calendarPath(calendarId: string): string {
  return `/me/calendars/${segment(calendarId)}`
}

export function eventPath(calendarId: string, eventId: string): string {
  return `${calendarPath(calendarId)}/events/${segment(eventId)}`
}

/**
 * Reads series complete: a view of the calendar shows which instances exist, but not which ones were cancelled, and an exception
 * outside of the view not at all. Series that no longer exist are left out.
 */
export async function readSeries(context: CalendarContext, ids: readonly string[]): Promise<Unit[]> {
  const { graph, calendarId, doing, signal } = context
  const items = ids.map((id) => ({
    ...{ id, path: eventPath(calendarId, id), prefer: [AS_TEXT] },
    query: {
      $select: `${EVENT_FIELDS},cancelledOccurrences,exceptionOccurrences`,
      $expand: 'exceptionOccurrences',
    },
  }))
  const results = await graph.batch(items, { doing, signal, ...SYNC_LIMITS })
  const units: Unit[] = []
  for (const item of items) {
    const result = results.get(item)
    if (result instanceof ProviderError && result.kind === 'not_found') continue
    const master = bodyOf(result)
    const unit = unitOf(master, await allExceptions(context, master), context)
    if (unit !== undefined) units.push(unit)
  }
  return units
}

async function allExceptions({ graph, doing, signal }: CalendarContext, master: Json): Promise<Json[]> {
  const all = list(master.exceptionOccurrences).map(object)
  const links = new PageLinks(doing)
  for (let next = text(master['exceptionOccurrences@odata.nextLink']); next !== undefined; ) {
    if (all.length >= MAX_EXCEPTIONS) break
    const page = await graph.page(graph.pathOf(links.follow(next, all.length), doing), {
      doing,
      signal,
      prefer: [AS_TEXT],
      ...SYNC_LIMITS,
    })
    all.push(...page.items)
    next = page.nextLink
  }
  return all.slice(0, MAX_EXCEPTIONS)
}

/** A single event, or a master with the exceptions that Graph returned beside it. */
export function unitOf(item: Json, exceptions: readonly Json[], context: MappingContext): Unit | undefined {
  const event = mapped(item, context)
  if (event === undefined) return undefined
  const changed = exceptions.flatMap((one) => mapped(one, context, item) ?? [])
  const cancelled = cancelledInstances(item, event, context.timeZone)
  return { event, exceptions: [...changed, ...cancelled].slice(0, MAX_EXCEPTIONS) }
}

/** Maps an item, and reports what could not be read. */
export function mapped(
  item: Json,
  { email, timeZone, report }: MappingContext,
  master?: Json,
): RemoteEvent | undefined {
  const event = remoteEvent(item, { email, timeZone, ...(master !== undefined && { master }) })
  const unreadable = unreadableIn(item, event)
  if (unreadable !== undefined) report?.(unreadable)
  return event
}

/**
 * What became of events that left the view: an event that still exists in the calendar was moved to a time outside of it. With
 * immutable ids Graph also finds an event that was moved to another calendar.
 */
export async function readLeft(
  context: CalendarContext,
  ids: readonly string[],
): Promise<{ units: Unit[]; removed: string[] }> {
  const { graph, calendarId, doing, signal } = context
  const events = ids.map((id) => ({
    ...{ id, path: eventPath(calendarId, id), prefer: [AS_TEXT], query: { $select: EVENT_FIELDS } },
  }))
  const calendars = new Map(
    ids.map((id) => [id, { path: `/me/events/${segment(id)}/calendar`, query: { $select: 'id' } }]),
  )
  const results = await graph.batch([...events, ...calendars.values()], { doing, signal, ...SYNC_LIMITS })
  const there = events.flatMap((item) => {
    const [event, calendar] = [item, calendars.get(item.id)].map((one) => one && results.get(one))
    const isGone = [event, calendar].some((result) => result instanceof ProviderError && result.kind === 'not_found')
    return isGone || text(bodyOf(calendar).id) !== calendarId ? [] : [bodyOf(event)]
  })
  const isMaster = (item: Json) => typeOf(item) === 'seriesMaster'
  const series = await readSeries(
    context,
    there.filter(isMaster).flatMap(({ id }) => text(id) ?? []),
  )
  const singles = there.filter((item) => !isMaster(item)).flatMap((item) => mapped(item, context) ?? [])
  const units = [...singles.map((event) => ({ event, exceptions: [] })), ...series]
  const left = new Set(units.map(({ event }) => event.eventId))
  return { units, removed: ids.filter((id) => !left.has(id)) }
}
