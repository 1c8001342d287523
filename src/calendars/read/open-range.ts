import { DAY_MS } from '../../platform/calendar/days.ts'
import { yieldIfHeld } from '../../platform/concurrency/event-loop.ts'
import type { Handle } from '../../platform/db/index.ts'
import {
  type CalendarAccount,
  ProviderError,
  type RemoteEvent,
  type TimeRange,
} from '../../providers/contract/index.ts'
import type { CalendarRow } from '../store.ts'
import { eventRow, type FoundEvent, foundEvents, instanceRow } from './found-events.ts'
import { byPosition, isAfter, type ListedRow, type Position } from './range.ts'

interface OpenRange {
  calendar: CalendarRow
  /** Infinite where there is no bound. */
  range: TimeRange
  isExpanded: boolean
  words: readonly string[]
  nowMs: number
  signal: AbortSignal
}

const TURN_MS = 8
/** Instances of a series may be moved so far: what is asked for begins earlier, so that none is taken for one that was not moved. */
const MOVED_MS = 31 * DAY_MS
/** Instances are computed for such a time at first, then for longer ones: of a year an hourly series has them all. */
const FIRST_MS = 7 * DAY_MS
const LONGEST_MS = 366 * DAY_MS
/** A series without an end is listed until here. */
const LATEST_MS = Date.UTC(2200, 0, 1)
/** Where a range that has too many events for one reading is divided, if it has no bounds. */
const [OLD_MS, FUTURE_MS] = [Date.UTC(1990, 0, 1), Date.UTC(2050, 0, 1)]

/** Reads from the provider what follows a position, in the order of the starts: at most `count` rows. Throws `ProviderError`. */
export async function readOpenRange(
  handle: Handle,
  remote: CalendarAccount,
  { calendar, range, isExpanded, words, nowMs, signal }: OpenRange,
  { after, count }: { after: Position | undefined; count: number },
): Promise<ListedRow[]> {
  const rows: ListedRow[] = []
  const first = Math.max(range.from, after?.[0] ?? range.from)
  for (let from = first; rows.length < count && from < range.to; ) {
    const { events, to } = await readEvents(remote, calendar, { from, to: range.to }, signal)
    const found = await foundEvents(handle, events, { calendar, words, nowMs })
    const part = { from, to, isFirst: from === first }
    const next = isExpanded ? instancesFrom(found, part) : eventsFrom(found, part, calendar)
    for await (const some of next) {
      rows.push(...some.filter((row) => after === undefined || isAfter(row, after)).sort(byPosition('startTime')))
      if (rows.length >= count) break
    }
    from = to
  }
  return rows.slice(0, count)
}

/** The same in the order of the last change: the instances of a series come one after the other. */
export async function readOpenRangeByChange(
  handle: Handle,
  remote: CalendarAccount,
  { calendar, range, isExpanded, words, nowMs, signal }: OpenRange,
  { after, count }: { after: Position | undefined; count: number },
): Promise<ListedRow[]> {
  const all = new Map<string, FoundEvent>()
  for (let from = range.from; from < range.to; ) {
    const { events, to } = await readEvents(remote, calendar, { from, to: range.to }, signal)
    for (const found of await foundEvents(handle, events, { calendar, words, nowMs })) all.set(found.row.id, found)
    from = to
  }
  const order = byPosition('updated')
  const sorted = [...all.values()].map((found) => ({ found, first: eventRow(found, calendar) }))
  sorted.sort((left, right) => order(left.first, right.first))
  const rows: ListedRow[] = []
  for (const { found, first } of sorted) {
    if (rows.length >= count) break
    if (after !== undefined && first.updatedAt < after[0]) continue
    const part = { ...range, isFirst: true }
    const next = isExpanded ? instancesFrom([found], part) : eventsFrom([found], part, calendar)
    for await (const some of next) {
      rows.push(...some.filter((row) => after === undefined || isAfter(row, after, 'updated')).sort(order))
      if (rows.length >= count) break
    }
  }
  return rows.slice(0, count)
}

/** Reads the events that overlap the range, or an earlier part of it where there are too many. */
async function readEvents(
  remote: CalendarAccount,
  { providerId: calendarId, timeZone }: CalendarRow,
  { from, to: last }: TimeRange,
  signal: AbortSignal,
): Promise<{ events: RemoteEvent[]; to: number }> {
  for (let to = last; ; ) {
    const range = { from: from - MOVED_MS, to }
    try {
      return { events: await remote.readRange({ calendarId, timeZone, range, expand: false, signal }), to }
    } catch (error) {
      const [begin, end] = [Math.max(from, OLD_MS), Math.min(to, Math.max(from, FUTURE_MS) + 4 * DAY_MS)]
      const isTooMuch = error instanceof ProviderError && error.kind === 'limit_exceeded'
      if (!isTooMuch || end - begin < 2 * DAY_MS) throw error
      to = Math.floor((begin + end) / 2)
    }
  }
}

/** `isFirst`: also what began before. */
interface Part extends TimeRange {
  isFirst: boolean
}

/** Each event once. */
async function* eventsFrom(found: readonly FoundEvent[], { from, to, isFirst }: Part, calendar: CalendarRow) {
  const rows: ListedRow[] = []
  for (const event of found) {
    const row = eventRow(event, calendar)
    if (event.event.status === 'cancelled' || row.startMs >= to) continue
    if (row.startMs >= from || (isFirst && (await takesPlaceIn(event, { from, to })))) rows.push(row)
    await yieldIfHeld(TURN_MS)
  }
  yield rows
}

async function takesPlaceIn(found: FoundEvent, range: TimeRange): Promise<boolean> {
  for await (const [instance] of instancesFrom([found], { ...range, isFirst: true })) if (instance) return true
  return false
}

/** Each instance, in ever longer spans of time. */
async function* instancesFrom(found: readonly FoundEvent[], { from, to, isFirst }: Part): AsyncGenerator<ListedRow[]> {
  const latestMs = Math.max(...found.map((event) => event.latestMs))
  const last = Math.min(to, LATEST_MS, latestMs + 1)
  let begin = Math.max(from, Math.min(...found.map(({ earliestMs }) => earliestMs)))
  for (let spanMs = FIRST_MS; begin < last; spanMs = Math.min(spanMs * 2, LONGEST_MS)) {
    const span = { from: begin, to: Math.min(begin + spanMs, last) }
    const rows: ListedRow[] = []
    for (const event of found) {
      const instances = event.instancesIn(span).filter(({ startMs }) => startMs >= begin || (isFirst && begin === from))
      rows.push(...instances.map((instance) => instanceRow(event, instance)))
      await yieldIfHeld(TURN_MS)
    }
    yield rows
    begin = span.to
  }
}
