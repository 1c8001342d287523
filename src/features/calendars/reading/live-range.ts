import type { Handle } from '../../../infra/db/index.ts'
import { yieldIfHeld } from '../../../lib/event-loop.ts'
import type { CalendarAccount, RemoteEvent } from '../../../providers/contract/index.ts'
import { instanceId, originalStartText } from '../api.ts'
import { instanceRows } from '../instance-rows.ts'
import { originalStartOf, spanOf } from '../instances/times.ts'
import { searchTextOf } from '../search-text.ts'
import { type CalendarRow, eventStore } from '../store.ts'
import type { ListedRow, StoredRange } from './range.ts'

export interface LiveRange extends StoredRange {
  calendar: CalendarRow
  nowMs: number
  signal: AbortSignal
}

export interface LiveRow extends ListedRow {
  isBusy: number
}

const TURN_MS = 8
/** A range with more is refused. */
export const MAX_LIVE_ROWS = 20_000

/** Reads a range from the provider and expands it. All rows in order; undefined when there are too many. */
export async function readLiveRange(
  handle: Handle,
  remote: CalendarAccount,
  { calendar, range, isExpanded, words, order, nowMs, signal }: LiveRange,
): Promise<LiveRow[] | undefined> {
  const { providerId: calendarId, timeZone } = calendar
  const found = await remote.readRange({ calendarId, timeZone, range, expand: isExpanded, signal })
  const exceptions = new Map<string, { content: string }[]>()
  for (const event of found) {
    if (event.recurringEventId === null) continue
    const ofSeries = exceptions.get(event.recurringEventId) ?? []
    ofSeries.push({ content: JSON.stringify(event) })
    exceptions.set(event.recurringEventId, ofSeries)
  }
  const ids = found.flatMap(({ eventId, recurringEventId }) => [eventId, recurringEventId ?? []].flat())
  const stored = await eventStore(handle, calendar.id).byProviderIds([...new Set(ids)])
  const rows: LiveRow[] = []
  for (const event of found) {
    const text = words.length === 0 ? '' : searchTextOf(event)
    if (words.every((word) => text.includes(word))) rows.push(...rowsOf(event))
    if (rows.length > MAX_LIVE_ROWS) return undefined
    await yieldIfHeld(TURN_MS)
  }
  const key = ({ startMs, updatedAt }: ListedRow) => (order === 'startTime' ? startMs : updatedAt)
  return rows.sort((a, b) => key(a) - key(b) || compare(a.id, b.id) || compare(a.instance, b.instance))

  function rowsOf(event: RemoteEvent): LiveRow[] {
    const known = stored.get(event.eventId)
    const master = event.recurringEventId === null ? undefined : stored.get(event.recurringEventId)
    const original =
      event.originalStart === null ? null : originalStartText(originalStartOf(event.originalStart, calendar.timeZone))
    // An event that is not stored has the provider's id, which requests accept too.
    const id =
      known?.id ?? (master !== undefined && original !== null ? instanceId(master.id, original) : event.eventId)
    const row = {
      ...{ id, accountId: calendar.accountId, calendarId: calendar.id, providerId: event.eventId },
      ...{ masterProviderId: event.recurringEventId, originalStart: original, content: JSON.stringify(event) },
      version: known?.version ?? 1,
      createdAt: known?.createdAt ?? event.createdAt ?? nowMs,
      updatedAt: known?.updatedAt ?? event.updatedAt ?? nowMs,
    }
    const instances = instanceRows(row, exceptions.get(event.eventId) ?? [], calendar, range)
    if (!isExpanded) {
      return instances.slice(0, 1).map(({ isBusy }) => ({
        ...row,
        ...{ instance: '', ...spanOf(event, calendar.timeZone), isBusy },
      }))
    }
    return instances.map(({ originalStart, startMs, endMs, isBusy }) => ({
      ...row,
      ...{ instance: originalStart, startMs, endMs, isBusy },
    }))
  }
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
