import { boundedEvent, placeholderTimes, type RemoteEvent, type TimeRange } from '../../contract/index.ts'
import { type Json, object, text } from '../../shared/rest/index.ts'

/** In place of a series that Graph does not return: busy at the times of its occurrences in a view. Undefined when none is known. */
export function placeholderOf(eventId: string, occurrences: readonly Json[]): RemoteEvent | undefined {
  const times = placeholderTimes(occurrences.flatMap((item) => rangeOf(item) ?? []))
  if (times === undefined) return undefined
  return boundedEvent({
    eventId,
    iCalUid: '',
    etag: null,
    status: 'confirmed',
    summary: '',
    description: '',
    location: '',
    ...times,
    timesOnly: true,
    recurringEventId: null,
    originalStart: null,
    busy: true,
    visibility: 'default',
    organizer: null,
    attendees: [],
    conference: null,
    reminders: [],
    htmlLink: null,
    createdAt: null,
    updatedAt: null,
  })
}

function rangeOf({ start, end }: Json): TimeRange | undefined {
  const [from, to] = [start, end].map((one) => {
    const { dateTime, timeZone } = object(one)
    return text(timeZone) === 'UTC' ? Date.parse(`${text(dateTime)?.slice(0, 19)}Z`) : Number.NaN
  })
  if (from === undefined || to === undefined || !(to >= from)) return undefined
  return { from, to }
}
