import type { Handle } from '../../platform/db/index.ts'
import type { RemoteEvent, TimeRange } from '../../providers/contract/index.ts'
import { instanceId, originalStartText } from '../api.ts'
import { instanceRows } from '../instance-rows.ts'
import { MAX_MOVE_MS } from '../instances/moves.ts'
import { eventSpan, toOriginalStart } from '../instances/times.ts'
import { buildSearchText } from '../search-text.ts'
import { type CalendarRow, eventStore, type InstanceRow } from '../store.ts'
import type { ListedRow } from './range.ts'

/** A row of a list that was read from the provider. */
export interface LiveRow extends ListedRow {
  isBusy: number
}

/** An event as the provider returned it. */
export interface FoundEvent {
  event: RemoteEvent
  row: Omit<ListedRow, 'instance' | 'startMs' | 'endMs'>
  /** No instance begins before. */
  earliestMs: number
  /** No instance takes place after. Infinite for a series. */
  latestMs: number
  /** When it takes place within a range. */
  instancesIn(range: TimeRange): InstanceRow[]
}

/** Gives events the ids that they have here. Those with all the words; `found` has the exceptions of its series. */
export async function foundEvents(
  handle: Handle,
  found: readonly RemoteEvent[],
  { calendar, words, nowMs }: { calendar: CalendarRow; words: readonly string[]; nowMs: number },
): Promise<FoundEvent[]> {
  const exceptions = new Map<string, { content: string }[]>()
  for (const event of found) {
    if (event.recurringEventId === null) continue
    const ofSeries = exceptions.get(event.recurringEventId) ?? []
    ofSeries.push({ content: JSON.stringify(event) })
    exceptions.set(event.recurringEventId, ofSeries)
  }
  const ids = found.flatMap(({ eventId, recurringEventId }) => [eventId, recurringEventId ?? []].flat())
  const stored = await eventStore(handle, calendar.id).byProviderIds([...new Set(ids)])
  return found.filter(hasWords).map((event) => {
    const row = buildRow(event)
    const own = exceptions.get(event.eventId) ?? []
    const { startMs, endMs } = eventSpan(event, calendar.timeZone)
    const earliestMs = event.moves === undefined ? startMs : startMs - MAX_MOVE_MS
    const latestMs = event.recurrence.length === 0 ? Math.max(startMs, endMs) : Number.POSITIVE_INFINITY
    return { event, row, earliestMs, latestMs, instancesIn: (range) => instanceRows(row, own, calendar, range) }
  })

  function hasWords(event: RemoteEvent): boolean {
    const text = words.length === 0 ? '' : buildSearchText(event)
    return words.every((word) => text.includes(word))
  }

  function buildRow(event: RemoteEvent): FoundEvent['row'] {
    const storedRow = stored.get(event.eventId)
    const master = event.recurringEventId === null ? undefined : stored.get(event.recurringEventId)
    const original =
      event.originalStart === null ? null : originalStartText(toOriginalStart(event.originalStart, calendar.timeZone))
    return {
      // An event that is not stored has the provider's id, which requests accept too.
      id:
        storedRow?.id ?? (master !== undefined && original !== null ? instanceId(master.id, original) : event.eventId),
      accountId: calendar.accountId,
      calendarId: calendar.id,
      providerId: event.eventId,
      masterProviderId: event.recurringEventId,
      originalStart: original,
      content: JSON.stringify(event),
      version: storedRow?.version ?? 1,
      createdAt: storedRow?.createdAt ?? event.createdAt ?? nowMs,
      updatedAt: storedRow?.updatedAt ?? event.updatedAt ?? nowMs,
    }
  }
}

/** The row of an event that is listed once, though it may be a series. */
export function eventRow({ event, row }: FoundEvent, { timeZone }: CalendarRow): ListedRow {
  return { ...row, instance: '', ...eventSpan(event, timeZone) }
}

export function instanceRow({ row }: FoundEvent, { originalStart, startMs, endMs, isBusy }: InstanceRow): LiveRow {
  return { ...row, instance: originalStart, startMs, endMs, isBusy }
}
