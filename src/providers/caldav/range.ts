import { TURN_MS, yieldIfHeld } from '../../lib/event-loop.ts'
import { ProviderError, type RemoteEvent, type TimeRange } from '../contract/index.ts'
import { objectPath } from './map.ts'
import type { ObjectBatch } from './object-batch.ts'
import { type Collection, MARGIN_MS, pathsInRange, readObjects } from './objects.ts'
import { goesOnAfter, isSeriesFrom } from './series.ts'

/** Everything that overlaps the range, and perhaps some more: servers read floating times and dates in a zone of their own. */
export async function readRange(
  collection: Collection,
  { from, to }: TimeRange,
  maxEvents: number,
): Promise<RemoteEvent[]> {
  const doing = 'reading events'
  const tooMany = () =>
    new ProviderError('limit_exceeded', `${doing}: more than ${maxEvents} events. Ask for a shorter range.`)
  const range = { from: from - MARGIN_MS, to: to + MARGIN_MS }
  const paths = await pathsInRange(collection, range)
  if (paths.length > maxEvents) throw tooMany()
  const events: RemoteEvent[] = []
  for await (const batch of readInRange(collection, range, paths)) {
    events.push(...batch.events)
    if (events.length > maxEvents) throw tooMany()
  }
  return events
}

/**
 * Reads the objects that the server found in a range, and the series that it may have overlooked. Xandikos compares a range with the
 * first instance of a series only, so that one which began before would be missing, and its times be free. Most servers need no second
 * query: a series that began long before the range, and that they found, shows that they expand.
 */
export async function* readInRange(
  collection: Collection,
  range: TimeRange,
  paths: readonly string[],
): AsyncGenerator<ObjectBatch, void> {
  let isExpanding = !Number.isFinite(range.from)
  let left = paths.length / 2
  let overlooked: Promise<string[]> | undefined
  for await (const batch of readObjects(collection, paths)) {
    isExpanding ||= hasEarlierSeries(batch, range.from)
    left -= batch.complete.length
    // Early, because the server would idle while the caller stores the last batches.
    if (!isExpanding && left <= 0) overlooked ??= begun(seriesBefore(collection, range.from))
    yield batch
  }
  if (isExpanding) return
  const known = new Set(paths)
  const series = (await (overlooked ?? seriesBefore(collection, range.from))).filter((path) => !known.has(path))
  for await (const batch of readObjects(collection, series)) yield await goingOn(batch, range.from)
}

/** The same promise. Its failure is no unhandled rejection if the caller stops before it is awaited. */
function begun<Result>(promise: Promise<Result>): Promise<Result> {
  promise.catch(() => {})
  return promise
}

/** A series without exceptions, which no server finds by its first instance. An exception might be found by its own time. */
function hasEarlierSeries({ events }: ObjectBatch, fromMs: number): boolean {
  const changed = new Set(events.map(({ recurringEventId }) => recurringEventId))
  return events.some((event) => isSeriesFrom(event, fromMs) && !changed.has(event.eventId))
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
    if (!(error instanceof ProviderError) || error.kind === 'auth_expired') throw error
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
