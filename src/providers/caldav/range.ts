import { DAY_MS } from '../../platform/calendar/days.ts'
import { TURN_MS, yieldIfHeld } from '../../platform/concurrency/event-loop.ts'
import { ProviderError, type RemoteEvent, type TimeRange } from '../contract/index.ts'
import type { Collection } from './collection.ts'
import { objectPath } from './events/map.ts'
import { goesOnAfter, isSeriesFrom } from './events/series.ts'
import { pathsInRange } from './listing.ts'
import { type ObjectBatch, pathsIn } from './object-batch.ts'
import { objectsInRange, readObjects } from './objects.ts'

/** Covers the difference of a time between two zones. */
export const MARGIN_MS = DAY_MS

/** Everything that overlaps the range, and perhaps some more: servers read floating times and dates in a zone of their own. */
export async function readRange(
  collection: Collection,
  { from, to }: TimeRange,
  maxEvents: number,
): Promise<RemoteEvent[]> {
  const range = { from: from - MARGIN_MS, to: to + MARGIN_MS }
  const events: RemoteEvent[] = []
  for await (const batch of readInRange(collection, range)) {
    for (const event of batch.events) events.push(event)
    if (events.length > maxEvents) {
      const text = `reading events: more than ${maxEvents} events. Ask for a shorter range.`
      throw new ProviderError('limit_exceeded', text)
    }
  }
  return events
}

/**
 * Reads the objects that the server finds in a range, and the series that it may have overlooked. Xandikos compares a range with the
 * first instance of a series only, so that one which began before would be missing, and its times be free. Most servers need no second
 * query: a series that began long before the range, and that they found, shows that they expand.
 */
export async function* readInRange(collection: Collection, range: TimeRange): AsyncGenerator<ObjectBatch, void> {
  const { server } = collection
  const read = new Set<string>()
  for await (const batch of objectsInRange(collection, range)) {
    server.expandsSeries ||= hasEarlierSeries(batch, range.from)
    for (const path of pathsIn(batch)) read.add(path)
    yield batch
  }
  if (server.expandsSeries || !Number.isFinite(range.from)) return
  const series = (await seriesBefore(collection, range.from)).filter((path) => !read.has(path))
  for await (const batch of readObjects(collection, series)) yield await goingOn(batch, range.from)
}

/** A series that is all of its object, which no server finds by its first instance. An exception might be found by its own time. */
function hasEarlierSeries({ events, unreadable }: ObjectBatch, fromMs: number): boolean {
  const alone = new Map<string, boolean>()
  for (const { eventId } of events) alone.set(objectPath(eventId), !alone.has(objectPath(eventId)))
  for (const { eventId } of unreadable) alone.set(objectPath(eventId), false)
  return events.some((event) => isSeriesFrom(event, fromMs) && alone.get(objectPath(event.eventId)))
}

/** Series whose first instance begins before that time. Every such event where the server cannot filter by property. */
async function seriesBefore(collection: Collection, ms: number): Promise<string[]> {
  const before = { from: Number.NEGATIVE_INFINITY, to: ms }
  try {
    const found = await Promise.all([
      pathsInRange(collection, before, 'RRULE'),
      pathsInRange(collection, before, 'RDATE'),
    ])
    return [...new Set(found.flat())]
  } catch (error) {
    if (!(error instanceof ProviderError) || error.kind === 'auth_expired' || error.passwordRefused) throw error
    return pathsInRange(collection, before)
  }
}

/** Without the objects whose events have ended before that time. */
async function goingOn({ events, complete, ...rest }: ObjectBatch, fromMs: number): Promise<ObjectBatch> {
  const kept = new Set<string>()
  for (const event of events) {
    if (goesOnAfter(event, fromMs)) kept.add(objectPath(event.eventId))
    await yieldIfHeld(TURN_MS)
  }
  const isKept = (path: string) => kept.has(path)
  const isRead = new Set(complete)
  return {
    ...rest,
    events: events.filter(({ eventId }) => isKept(objectPath(eventId))),
    complete: complete.filter(isKept),
    unreadable: rest.unreadable.filter(({ eventId }) => isKept(eventId) || !isRead.has(eventId)),
  }
}
