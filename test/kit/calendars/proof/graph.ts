import type { Choices } from './choices.ts'
import { type DescribedChange, type DescribedEvent, type DescribedTimes, ME } from './described.ts'
import { toInstant, toInstants, utcText } from './instants.ts'
import { ZONES } from './place.ts'

/** An event of Microsoft Graph with `exceptionOccurrences` and `cancelledOccurrences`, as a series is read. */
export function graphItem(choices: Choices, event: DescribedEvent, calendarZone: string): Record<string, unknown> {
  const { uid, times, pattern, exceptions, excluded } = event
  const zone = times.zone ?? calendarZone
  // All-day events that programs create are often in UTC.
  const zoneName = times.start.length === 10 && choices.is(0.5) ? 'UTC' : windowsName(zone)
  const removed = [...excluded, ...exceptions.filter((change) => change.times === null).map(({ original }) => original)]
  return {
    id: uid,
    iCalUId: `${uid}@outlook.com`,
    type: pattern === null ? 'singleInstance' : 'seriesMaster',
    ...mapTimes(times, calendarZone, zoneName),
    ...mapState(event),
    recurrence: pattern && { ...pattern, range: { ...pattern.range, recurrenceTimeZone: zoneName } },
    exceptionOccurrences: exceptions.flatMap((change) => mapException(uid, change, zone, calendarZone)),
    cancelledOccurrences: removed.map((original) => occurrenceId(uid, original)),
  }
}

function mapException(
  uid: string,
  { original, times, isFree }: DescribedChange,
  zone: string,
  calendarZone: string,
): Record<string, unknown>[] {
  if (times === null) return []
  const startMs = original.length === 10 ? Date.parse(original) : toInstant(original, zone)
  return [
    {
      id: `${uid}-${original}`,
      type: 'exception',
      seriesMasterId: uid,
      originalStart: utcText(startMs),
      occurrenceId: occurrenceId(uid, original),
      showAs: isFree ? 'free' : 'busy',
      isCancelled: false,
      ...mapTimes(times, calendarZone, windowsName(times.zone ?? zone)),
    },
  ]
}

function mapState({ state }: DescribedEvent): Record<string, unknown> {
  const showAs = state === 'free' || state === 'tentative' ? state : 'busy'
  const attendees = [{ emailAddress: { address: ME }, type: 'required', status: { response: 'declined' } }]
  return { showAs, isCancelled: state === 'cancelled', attendees: state === 'declined' ? attendees : [] }
}

/** In UTC, as Graph returns times unless it is asked for another zone. */
function mapTimes(times: DescribedTimes, calendarZone: string, zoneName: string): Record<string, unknown> {
  const isAllDay = times.start.length === 10
  const { startMs, endMs } = isAllDay
    ? { startMs: Date.parse(times.start), endMs: Date.parse(times.end) }
    : toInstants(times, calendarZone)
  const mapTime = (ms: number) => ({ dateTime: `${utcText(ms).slice(0, -1)}.0000000`, timeZone: 'UTC' })
  const endName = times.endZone === null ? zoneName : windowsName(times.endZone)
  return {
    isAllDay,
    start: mapTime(startMs),
    end: mapTime(endMs),
    originalStartTimeZone: zoneName,
    originalEndTimeZone: endName,
  }
}

function windowsName(zone: string): string {
  return ZONES[zone] ?? zone
}

function occurrenceId(uid: string, original: string): string {
  return `OID.${uid}.${original.slice(0, 10)}`
}
