import { DAY_MS } from '../../../platform/calendar/days.ts'
import { addToGroup } from '../../../platform/group-by.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import type { EventStep, EventSyncRequest, RemoteEvent, UnreadableEvent } from '../../contract/index.ts'
import { type Json, text } from '../../shared/rest/index.ts'
import type { Graph } from '../client.ts'
import { type Cursor, readCursor } from './cursor.ts'
import { deltaRound, firstRequest } from './delta-pages.ts'
import { readType, remoteEvent } from './map.ts'
import { type CalendarContext, mapped, readLeft, readSeries, type Unit } from './series.ts'

/** How much later than the window a round of changes ends. It is renewed when the window has moved that far. */
const AHEAD_MS = 92 * DAY_MS
/** The cursor of an unchanged calendar is renewed this often, because Graph forgets old ones. */
const RENEW_MS = DAY_MS
/** Clocks differ: an event that was created later than this before a listing is new. */
const CLOCK_MS = 120_000
const STEP_EVENTS = 500

const LISTING = 'listing events'
const READING = 'reading the changes of a calendar'

/** Follows one delta query over the calendar view; a new one lists the events when the window has left its range. */
export async function* syncEvents(
  { graph, email }: { graph: Graph; email: string },
  { calendarId, timeZone = null, cursor: written, window, again = [], signal }: EventSyncRequest,
  clock: Clock,
): AsyncGenerator<EventStep> {
  const begin = (since: number | null): Cursor => {
    const range = { from: window.from, to: window.to + AHEAD_MS }
    return { v: 1, ...range, next: firstRequest(range), atMs: clock.now(), listing: { since } }
  }
  if (written !== null && again.length > 0) yield* readAgain(readCursor(written))
  const cursor = yield* round(written === null ? begin(null) : readCursor(written))
  const isCovered = cursor.from <= window.from && cursor.to >= window.to
  if (!isCovered) yield* round(begin(clock.now()))

  /** Events that Graph did not return before. */
  async function* readAgain(cursor: Cursor): AsyncGenerator<EventStep> {
    const unreadable: UnreadableEvent[] = []
    const report = (event: UnreadableEvent) => unreadable.push(event)
    const context: CalendarContext = { graph, email, timeZone, calendarId, doing: READING, signal, report }
    const { units, removed } = await readLeft(context, again, { mayAllFail: true })
    yield* buildSteps({ units, removed, unreadable }, { since: null, before: cursor, after: cursor })
  }

  async function* round(start: Cursor): AsyncGenerator<EventStep, Cursor> {
    const { listing, ...rest } = start
    const doing = listing === undefined ? READING : LISTING
    const context: CalendarContext = { graph, email, timeZone, calendarId, doing, signal }
    let cursor = start
    for await (const { items, next, isLast } of deltaRound(graph, calendarId, { next: start.next, doing, signal })) {
      const unreadable: UnreadableEvent[] = []
      const report = (event: UnreadableEvent) => unreadable.push(event)
      const { units, removed } = await readChanges({ ...context, report }, items)
      const after: Cursor = { ...rest, next, atMs: clock.now(), ...(!isLast && listing && { listing }) }
      const isOld = after.atMs - start.atMs > RENEW_MS
      if (items.length > 0 || !isLast || listing !== undefined || isOld) {
        yield* buildSteps({ units, removed, unreadable }, { since: listing?.since ?? null, before: cursor, after })
        cursor = after
      }
    }
    return cursor
  }
}

/** Reads the changes that a page of the view reports. */
async function readChanges(context: CalendarContext, items: readonly Json[]) {
  const singles = new Map<string, Unit>()
  const orphans: RemoteEvent[] = []
  const series = new Set<string>()
  const occurrences = new Map<string, Json[]>()
  const left = new Set<string>()
  for (const item of items) {
    const id = text(item.id)
    if (id === undefined) continue
    const type = readType(item)
    const masterId = type === 'seriesMaster' ? id : text(item.seriesMasterId)
    left.delete(id)
    singles.delete(id)
    if ('@removed' in item) left.add(id)
    else if (masterId) {
      series.add(masterId)
      if (type === 'occurrence') addToGroup(occurrences, masterId, item)
      const exception = type === 'exception' ? remoteEvent(item, context) : undefined
      if (exception !== undefined) orphans.push(exception)
    } else {
      const event = mapped(item, context)
      if (event !== undefined) singles.set(id, { event, exceptions: [] })
    }
  }
  for (const id of series) left.delete(id)
  const complete = await readSeries(context, [...series], { occurrences })
  const seriesIds = new Set(complete.map(({ event }) => event.eventId))
  const alone = orphans.filter(({ recurringEventId }) => !seriesIds.has(recurringEventId ?? ''))
  const moved = await readLeft(context, [...left])
  const units = [...singles.values(), ...complete, ...alone.map(asUnit), ...moved.units]
  // A meeting that its organizer cancelled remains in the calendar of the others.
  const isCancelled = ({ event }: Unit) => event.status === 'cancelled' && event.recurringEventId === null
  const cancelled = units.filter(isCancelled).map(({ event }) => event.eventId)
  return { units: units.filter((unit) => !isCancelled(unit)), removed: [...moved.removed, ...cancelled] }
}

function asUnit(event: RemoteEvent): Unit {
  return { event, exceptions: [] }
}

/** All steps but the last carry the cursor from before the page. A series is not split. */
function* buildSteps(
  { units, removed, unreadable }: { units: readonly Unit[]; removed: string[]; unreadable: UnreadableEvent[] },
  { since, before, after }: { since: number | null; before: Cursor; after: Cursor },
): Generator<EventStep> {
  let step: Omit<EventStep, 'cursor'> = { found: [], entered: [], complete: [], removed }
  let size = 0
  for (const { event, exceptions } of units) {
    if (size > 0 && size + 1 + exceptions.length > STEP_EVENTS) {
      yield { ...step, cursor: JSON.stringify(before) }
      step = { found: [], entered: [], complete: [], removed: [] }
      size = 0
    }
    const isNew = since === null || (event.createdAt ?? 0) > since - CLOCK_MS
    step[isNew ? 'found' : 'entered'].push(event, ...exceptions)
    if (event.recurrence.length > 0) step.complete.push(event.eventId)
    size += 1 + exceptions.length
  }
  // Last, because what a step finds counts as read.
  yield { ...step, unreadable, cursor: JSON.stringify(after) }
}
