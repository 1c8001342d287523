import {
  boundedEvent,
  daysOrTimes,
  mayBeDays,
  placeholderTimes,
  type RemoteEvent,
  type TimeRange,
} from '../../contract/index.ts'
import { type Json, object, text } from '../../shared/rest/index.ts'
import { isBusy } from './map.ts'

/** Fields that the delta query leaves out of an occurrence. They are the same in all occurrences of a series. */
export const SAMPLE_FIELDS = 'id,isAllDay,showAs'

interface Known {
  /** The occurrences in a calendar view. */
  occurrences: readonly Json[]
  /** The occurrence that `occurrenceToRead` named, with `SAMPLE_FIELDS`. Undefined: Graph does not return it. */
  sample: Json | undefined
  /** Null: not known. */
  calendarZone: string | null
}

/** The id of an occurrence that must be read to know whether the series is all-day. Undefined when that is known, or its times are no days. */
export function occurrenceToRead(occurrences: readonly Json[]): string | undefined {
  const ranges = occurrences.flatMap((item) => parseRange(item) ?? [])
  if (!ranges.every(mayBeDays) || occurrences.some(hasDetails)) return undefined
  return occurrences.flatMap(({ id }) => text(id) || [])[0]
}

/** In place of a series that Graph does not return: busy at the times of its occurrences, unless they are free. Undefined when none is known. */
export function buildPlaceholder(eventId: string, known: Known): RemoteEvent | undefined {
  const { isAllDay, showAs } = known.sample ?? known.occurrences.find(hasDetails) ?? {}
  const ranges = known.occurrences.flatMap((item) => parseRange(item) ?? [])
  const areDays = ranges.every(mayBeDays)
  const isUnknown = areDays && typeof isAllDay !== 'boolean'
  const instances = isUnknown ? ranges.map((range) => daysOrTimes(range, known.calendarZone)) : ranges
  const times = placeholderTimes(instances, areDays && isAllDay === true)
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
    busy: isBusy(showAs),
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

function hasDetails({ isAllDay }: Json): boolean {
  return typeof isAllDay === 'boolean'
}

function parseRange({ start, end }: Json): TimeRange | undefined {
  const [from, to] = [start, end].map((time) => {
    const { dateTime, timeZone } = object(time)
    return text(timeZone) === 'UTC' ? Date.parse(`${text(dateTime)?.slice(0, 19)}Z`) : Number.NaN
  })
  if (from === undefined || to === undefined || !(to >= from)) return undefined
  return { from, to }
}
