import type { RemoteEvent, TimeRange } from '../providers/contract/index.ts'
import { originalStartText } from './api.ts'
import { expandSeries } from './instances/instances.ts'
import { eventSpan, isFloating } from './instances/times.ts'
import type { CalendarRow, EventRow, InstanceRow, Placement } from './store.ts'

const DAY_MS = 24 * 60 * 60 * 1000

/** `exceptions` are those of a series, the cancelled ones too. */
export function buildPlacement(
  row: Pick<EventRow, 'id' | 'content'>,
  exceptions: readonly Pick<EventRow, 'content'>[],
  calendar: Pick<CalendarRow, 'id' | 'timeZone'>,
  window: TimeRange,
): Placement {
  const event: RemoteEvent = JSON.parse(row.content)
  const instances = instancesIn(event, row.id, exceptions, calendar, window)
  let firstMs: number | null = null
  let lastMs: number | null = null
  let gapMs = -1
  for (const { startMs, endMs } of instances) {
    firstMs ??= startMs
    if (lastMs !== null) gapMs = Math.max(gapMs, startMs - lastMs)
    lastMs = Math.max(lastMs ?? endMs, endMs)
  }
  // Instances that were moved may be far from their original start, by which lists find those of a series.
  if (event.moves !== undefined) gapMs = -1
  return { startMs: eventSpan(event, calendar.timeZone).startMs, firstMs, lastMs, gapMs, instances }
}

/** When the event takes place within the window, in order. `exceptions` are those of a series, the cancelled ones too. */
export function instanceRows(
  row: Pick<EventRow, 'id' | 'content'>,
  exceptions: readonly Pick<EventRow, 'content'>[],
  calendar: Pick<CalendarRow, 'id' | 'timeZone'>,
  window: TimeRange,
): InstanceRow[] {
  return instancesIn(JSON.parse(row.content), row.id, exceptions, calendar, window)
}

function instancesIn(
  event: RemoteEvent,
  eventId: string,
  exceptions: readonly Pick<EventRow, 'content'>[],
  { id: calendarId, timeZone }: Pick<CalendarRow, 'id' | 'timeZone'>,
  window: TimeRange,
): InstanceRow[] {
  if (event.status === 'cancelled') return []
  const isSeriesBusy = leavesNoTime(event)
  const isFloatingNumber = Number(isFloating(event.start, timeZone))
  const buildRow = (originalStart: string, startMs: number, endMs: number, busy = isSeriesBusy): InstanceRow => ({
    eventId,
    calendarId,
    originalStart,
    startMs,
    endMs,
    isLong: Number(endMs - startMs > DAY_MS),
    isBusy: Number(busy),
    isFloating: isFloatingNumber,
  })
  if (event.recurrence.length === 0) {
    const { startMs, endMs } = eventSpan(event, timeZone)
    return startMs < window.to && endMs > window.from ? [buildRow('', startMs, endMs)] : []
  }
  const originals = exceptions.flatMap(({ content }) => (JSON.parse(content) as RemoteEvent).originalStart ?? [])
  const series = {
    start: event.start,
    end: event.end,
    durationDays: event.durationDays,
    recurrence: event.recurrence,
    moves: event.moves ?? [],
    exceptions: originals,
  }
  return expandSeries(series, timeZone, window).map(({ originalStart, startMs, endMs, busy }) =>
    buildRow(originalStartText(originalStart), startMs, endMs, busy),
  )
}

/** Whether the user has no time for others. A tentative event and an invitation without an answer block, as at Google. */
function leavesNoTime({ busy, attendees }: RemoteEvent): boolean {
  return busy && !attendees.some(({ self, responseStatus }) => self && responseStatus === 'declined')
}
