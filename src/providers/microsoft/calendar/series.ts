import { ProviderError, type RemoteEvent, type UnreadableEvent } from '../../contract/index.ts'
import { type Json, list, mayBeOfMessage, object, PageLinks, resultOfEach, text } from '../../shared/rest/index.ts'
import { type BatchResult, type Graph, requireBody, SYNC_LIMITS, segment } from '../client.ts'
import { AS_TEXT } from '../map.ts'
import { cancelledInstances, EVENT_FIELDS, readType, remoteEvent, unreadableIn } from './map.ts'
import { buildPlaceholder, occurrenceToRead, SAMPLE_FIELDS } from './placeholder.ts'

/** Limits the exceptions of one series. Its oldest cancelled instances beyond that are left out. */
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

interface ReadOptions {
  /** Instances in the view, by series. They give the times of a series that Graph does not return. */
  occurrences?: ReadonlyMap<string, Json[]>
  /** The events are known to fail, so that all of them together do not mean that Graph fails. */
  mayAllFail?: boolean
}

export function calendarPath(calendarId: string): string {
  return `/me/calendars/${segment(calendarId)}`
}

export function eventPath(calendarId: string, eventId: string): string {
  return `${calendarPath(calendarId)}/events/${segment(eventId)}`
}

/**
 * Reads series complete: a view of the calendar shows which instances exist, but not which ones were cancelled, and an exception
 * outside of the view not at all. Series that no longer exist are left out. One that Graph does not return is reported, with the times of
 * its `occurrences` in the view.
 */
export async function readSeries(
  context: CalendarContext,
  ids: readonly string[],
  { occurrences = new Map(), mayAllFail = false }: ReadOptions = {},
): Promise<Unit[]> {
  const { graph, calendarId, doing, signal } = context
  const items = ids.map((id) => ({
    id,
    path: eventPath(calendarId, id),
    prefer: [AS_TEXT],
    query: {
      $select: `${EVENT_FIELDS},cancelledOccurrences,exceptionOccurrences`,
      $expand: 'exceptionOccurrences',
    },
  }))
  const results = await resultOfEach(items, (some) =>
    graph.batch(some, { doing, signal, isolates: true, ...SYNC_LIMITS }),
  )
  const units: Unit[] = []
  const refused = new Map<string, ProviderError>()
  for (const item of items) {
    const result = results.get(item)
    if (result instanceof ProviderError && result.kind === 'not_found') continue
    const unit = await completeUnit(context, result).catch(unlessOfAccount)
    if (unit instanceof ProviderError) refused.set(item.id, unit)
    else if (unit !== undefined) units.push(unit)
  }
  if (!mayAllFail) throwIfAllFail([...refused.values()], items.length)
  const samples = await readSamples(context, occurrences, [...refused.keys()])
  for (const [id, { message }] of refused) {
    const known = { occurrences: occurrences.get(id) ?? [], sample: samples.get(id), calendarZone: context.timeZone }
    const placeholder = buildPlaceholder(id, known)
    context.report?.({ eventId: id, reason: message, isRefused: true, ...(placeholder && { placeholder }) })
  }
  return units
}

/** One occurrence of each of these series, where its times do not say whether it is all-day. Those that Graph refuses are left out. */
async function readSamples(
  { graph, calendarId, doing, signal }: CalendarContext,
  occurrences: ReadonlyMap<string, Json[]>,
  seriesIds: readonly string[],
): Promise<Map<string, Json>> {
  const items = seriesIds.flatMap((seriesId) => {
    const id = occurrenceToRead(occurrences.get(seriesId) ?? [])
    return id === undefined ? [] : [{ seriesId, path: eventPath(calendarId, id), query: { $select: SAMPLE_FIELDS } }]
  })
  const results = await resultOfEach(items, (some) =>
    graph.batch(some, { doing, signal, isolates: true, ...SYNC_LIMITS }),
  )
  const samples = new Map<string, Json>()
  for (const item of items) {
    const result = results.get(item)
    if (!(result instanceof ProviderError)) samples.set(item.seriesId, requireBody(result))
    else if (result.kind !== 'not_found') unlessOfAccount(result)
  }
  return samples
}

/** The same context for callers that must not leave a series out: one that Graph does not return makes the request fail. */
export function failingIfRefused(context: CalendarContext): CalendarContext {
  return {
    ...context,
    report({ reason, isRefused }) {
      if (isRefused) throw new ProviderError('unavailable', reason)
    },
  }
}

async function completeUnit(context: CalendarContext, result: BatchResult | undefined): Promise<Unit | undefined> {
  const master = requireBody(result)
  return mapUnit(master, await allExceptions(context, master), context)
}

/** The failure of one event, which costs only that event. */
function unlessOfAccount(error: unknown): ProviderError {
  if (error instanceof ProviderError && mayBeOfMessage(error) && error.retryAfterMs === undefined) return error
  throw error
}

/** When so many events fail and no other is returned, the fault may be that of Graph. */
const MAX_FAILING = 5

function throwIfAllFail(failures: readonly ProviderError[], requested: number): void {
  const [failure] = failures
  if (failure !== undefined && failures.length === requested && requested >= MAX_FAILING) throw failure
}

async function allExceptions({ graph, doing, signal }: CalendarContext, master: Json): Promise<Json[]> {
  const all = list(master.exceptionOccurrences).map(object)
  const links = new PageLinks(doing)
  for (let next = text(master['exceptionOccurrences@odata.nextLink']); next !== undefined; ) {
    if (all.length >= MAX_EXCEPTIONS) break
    const page = await graph.page(graph.resolvePath(links.follow(next, all.length), doing), {
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
export function mapUnit(item: Json, exceptions: readonly Json[], context: MappingContext): Unit | undefined {
  const event = mapped(item, context)
  if (event === undefined) return undefined
  const changed = exceptions.flatMap((exception) => mapped(exception, context, item) ?? [])
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
 * Finds out what became of events that left the view: one that still exists in the calendar was moved outside of it. With
 * immutable ids Graph also finds an event that was moved to another calendar.
 */
export async function readLeft(
  context: CalendarContext,
  ids: readonly string[],
  { mayAllFail = false }: Pick<ReadOptions, 'mayAllFail'> = {},
): Promise<{ units: Unit[]; removed: string[] }> {
  const { graph, calendarId, doing, signal, report } = context
  const events = ids.map((id) => ({
    id,
    path: eventPath(calendarId, id),
    prefer: [AS_TEXT],
    query: { $select: EVENT_FIELDS },
  }))
  const calendars = new Map(
    ids.map((id) => [id, { path: `/me/events/${segment(id)}/calendar`, query: { $select: 'id' } }]),
  )
  const results = await resultOfEach([...events, ...calendars.values()], (some) =>
    graph.batch(some, { doing, signal, isolates: true, ...SYNC_LIMITS }),
  )
  const readable: Json[] = []
  const refused = new Map<string, ProviderError>()
  for (const item of events) {
    const both = [item, calendars.get(item.id)].map((request) => request && results.get(request))
    const failures = both.filter((result) => result instanceof ProviderError)
    if (failures.some(({ kind }) => kind === 'not_found')) continue
    const [failure] = failures
    if (failure !== undefined) refused.set(item.id, unlessOfAccount(failure))
    else if (text(requireBody(both[1]).id) === calendarId) readable.push(requireBody(both[0]))
  }
  if (!mayAllFail) throwIfAllFail([...refused.values()], events.length)
  for (const [id, { message }] of refused) report?.({ eventId: id, reason: message, isRefused: true })
  const isMaster = (item: Json) => readType(item) === 'seriesMaster'
  const masters = readable.filter(isMaster).flatMap(({ id }) => text(id) ?? [])
  const unreadSeries: string[] = []
  const reporting: CalendarContext = {
    ...context,
    report(event) {
      if (event.isRefused) unreadSeries.push(event.eventId)
      report?.(event)
    },
  }
  const series = await readSeries(reporting, masters, { mayAllFail })
  const singles = readable.filter((item) => !isMaster(item)).flatMap((item) => mapped(item, context) ?? [])
  const units = [...singles.map((event) => ({ event, exceptions: [] })), ...series]
  const left = new Set([...units.map(({ event }) => event.eventId), ...refused.keys(), ...unreadSeries])
  return { units, removed: ids.filter((id) => !left.has(id)) }
}
