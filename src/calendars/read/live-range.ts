import { yieldIfHeld } from '../../platform/concurrency/event-loop.ts'
import type { Handle } from '../../platform/db/index.ts'
import type { CalendarAccount } from '../../providers/contract/index.ts'
import type { CalendarRow } from '../store.ts'
import { eventRow, foundEvents, instanceRow, type LiveRow } from './found-events.ts'
import { byPosition, type StoredRange } from './range.ts'

interface LiveRange extends StoredRange {
  calendar: CalendarRow
  nowMs: number
  signal: AbortSignal
}

const TURN_MS = 8
/** A range with more is refused. */
export const MAX_LIVE_ROWS = 20_000

/** Reads a range of some years from the provider and expands it. All rows in order; undefined when there are too many. */
export async function readLiveRange(
  handle: Handle,
  remote: CalendarAccount,
  { calendar, range, isExpanded, words, order, nowMs, signal }: LiveRange,
): Promise<LiveRow[] | undefined> {
  const { providerId: calendarId, timeZone } = calendar
  const events = await remote.readRange({ calendarId, timeZone, range, expand: isExpanded, signal })
  const rows: LiveRow[] = []
  for (const found of await foundEvents(handle, events, { calendar, words, nowMs })) {
    const instances = found.instancesIn(range)
    const [first] = instances
    if (isExpanded) rows.push(...instances.map((instance) => instanceRow(found, instance)))
    else if (first !== undefined) rows.push({ ...eventRow(found, calendar), isBusy: first.isBusy })
    if (rows.length > MAX_LIVE_ROWS) return undefined
    await yieldIfHeld(TURN_MS)
  }
  return rows.sort(byPosition(order))
}
