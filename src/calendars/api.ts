import type { Static } from 'typebox'
import * as Type from 'typebox'
import type { UnreadableItem } from '../accounts/collections/index.ts'
import { providerSchema } from '../events/index.ts'
import { isOwnZone } from '../platform/calendar/read-vtimezone.ts'
import { nullable, timestamp } from '../platform/formats/json-schema.ts'
import { isoTime } from '../platform/time/time.ts'
import type { EventTime, ProviderName, RemoteAttendee, RemoteEvent } from '../providers/contract/index.ts'
import type { CalendarRow, EventRow } from './store.ts'

export const calendarSchema = Type.Object(
  {
    id: Type.String({ description: 'Does not change when the calendar is renamed.' }),
    accountId: Type.String(),
    provider: providerSchema,
    providerId: Type.String({ description: "The provider's id; requests accept it in place of `id`." }),
    summary: Type.String({ description: 'The name.' }),
    description: Type.String(),
    timeZone: Type.String({ description: 'IANA name.' }),
    backgroundColor: nullable(Type.String({ description: '`#rrggbb`.' })),
    foregroundColor: nullable(Type.String({ description: '`#rrggbb`.' })),
    accessRole: Type.Enum(['freeBusyReader', 'reader', 'writer', 'owner']),
    primary: Type.Boolean(),
    selected: Type.Boolean({ description: 'Whether the user shows it, at Google; true elsewhere.' }),
    unreadable: Type.Object(
      {
        count: Type.Integer({ description: 'At most 1,000.' }),
        events: Type.Array(Type.Object({ providerEventId: Type.String(), reason: Type.String() }), {
          description: 'The first 10.',
        }),
      },
      { description: 'Events that cannot be read, entirely or in part. They are busy where their hours are known.' },
    ),
    failure: nullable(
      Type.Object(
        {
          reason: Type.String(),
          since: timestamp('Of the first failure in a row.'),
          attempts: Type.Integer({ description: 'How often in a row the calendar could not be read.' }),
          nextAttemptAt: timestamp(),
        },
        {
          description:
            'Why the events of this calendar cannot be read at the moment, whatever becomes of the others. Its busy times are unknown, not free. Null while they can be read.',
        },
      ),
    ),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
  { title: 'Calendar' },
)

const eventTime = Type.Object(
  {
    dateTime: Type.Optional(timestamp('In UTC; absent for all-day events.')),
    date: Type.Optional(Type.String({ format: 'date', description: 'The day, for all-day events only.' })),
    timeZone: nullable(Type.String({ description: 'IANA name of the time zone in which the event was created.' })),
  },
  { title: 'CalendarEventTime' },
)

const attendee = Type.Object(
  {
    email: Type.String(),
    displayName: nullable(Type.String()),
    responseStatus: Type.Enum(['needsAction', 'accepted', 'tentative', 'declined']),
    optional: Type.Boolean(),
    organizer: Type.Boolean(),
    self: Type.Boolean({ description: 'True for the account itself.' }),
  },
  { title: 'CalendarAttendee' },
)

/** A calendar event as the API and events show it. */
export const calendarEventSchema = Type.Object(
  {
    id: Type.String({ description: 'Of an instance of a series: `<id of the series>_<original start in UTC>`.' }),
    accountId: Type.String(),
    provider: providerSchema,
    calendarId: Type.String(),
    providerEventId: Type.String({ description: "The provider's id; of an instance, that of its series." }),
    iCalUID: Type.String({ description: 'UID of RFC 5545, equal in the calendars of all attendees.' }),
    summary: Type.String(),
    description: nullable(
      Type.String({ description: 'The first 8,192 characters. HTML where the provider has HTML.' }),
    ),
    location: nullable(Type.String()),
    start: eventTime,
    end: eventTime,
    status: Type.Enum(['confirmed', 'tentative', 'cancelled']),
    busy: Type.Boolean({ description: 'False: others see the time as free.' }),
    visibility: Type.Enum(['default', 'public', 'private', 'confidential']),
    organizer: nullable(Type.Object({ email: Type.String(), displayName: nullable(Type.String()) })),
    attendees: Type.Array(attendee),
    recurrence: Type.Array(Type.String(), {
      description: 'RRULE, RDATE and EXDATE lines (RFC 5545) of a series; empty for its instances and single events.',
    }),
    recurringEventId: nullable(Type.String({ description: 'The series to which the event belongs.' })),
    originalStart: nullable(Type.String({ description: 'When the instance would start if it had not been moved.' })),
    joinUrl: nullable(Type.String({ description: 'Link to the video conference.' })),
    reminders: Type.Array(Type.Object({ method: Type.Enum(['popup', 'email']), minutes: Type.Integer() })),
    htmlLink: nullable(Type.String({ description: "Shows the event on the provider's site." })),
    version: Type.Integer(),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
  { title: 'CalendarEvent' },
)
export type CalendarEventView = Static<typeof calendarEventSchema>

export function calendarView(
  row: CalendarRow,
  provider: ProviderName,
  unreadable: readonly UnreadableItem[] = [],
): Static<typeof calendarSchema> {
  const { id, accountId, providerId, summary, description, backgroundColor, foregroundColor, role } = row
  return {
    id,
    accountId,
    provider,
    providerId,
    summary,
    description,
    timeZone: row.timeZone ?? 'UTC',
    backgroundColor,
    foregroundColor,
    accessRole: role,
    primary: row.isPrimary === 1,
    selected: row.isSelected === 1,
    unreadable: {
      count: row.unreadable,
      events: unreadable.map(({ itemId, reason }) => ({ providerEventId: itemId, reason })),
    },
    failure: toFailure(row),
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  }
}

function toFailure({ failures, failureReason, failingSince, retryAt }: CalendarRow) {
  if (failures === 0) return null
  return {
    reason: failureReason ?? '',
    since: isoTime(failingSince ?? 0),
    attempts: failures,
    nextAttemptAt: isoTime(retryAt ?? 0),
  }
}

/** When an event takes place. */
export interface Span {
  startMs: number
  endMs: number
}

export interface EventContext {
  provider: ProviderName
  /** `span` is the first time for a series. */
  span: Span
  /** The original start of one instance of a series, as in its id. */
  instance?: string
}

export type ShownEvent = Pick<
  EventRow,
  | 'id'
  | 'accountId'
  | 'calendarId'
  | 'providerId'
  | 'masterProviderId'
  | 'originalStart'
  | 'version'
  | 'createdAt'
  | 'updatedAt'
> & { content: RemoteEvent }

export function eventView(event: ShownEvent, { provider, span, instance }: EventContext): CalendarEventView {
  const { content } = event
  const isInstance = instance !== undefined
  const seriesId = isInstance ? event.id : event.masterProviderId === null ? null : parseSeriesId(event.id)
  const original = instance ?? event.originalStart
  return {
    id: isInstance ? instanceId(event.id, instance) : event.id,
    accountId: event.accountId,
    provider,
    calendarId: event.calendarId,
    providerEventId: event.providerId,
    iCalUID: content.iCalUid,
    summary: content.summary,
    description: content.description === '' ? null : content.description,
    location: content.location === '' ? null : content.location,
    start: timeView(content.start, span.startMs, isInstance ? toIsoDay(original) : undefined),
    end: timeView(content.end, span.endMs, isInstance ? shiftedEnd(content, original) : undefined),
    status: content.status,
    busy: content.busy,
    visibility: content.visibility,
    organizer: content.organizer && toPerson(content.organizer),
    attendees: content.attendees.map(({ displayName, ...rest }) => ({ ...rest, displayName: displayName || null })),
    recurrence: isInstance ? [] : content.recurrence,
    recurringEventId: seriesId,
    originalStart: original === null ? null : (toIsoDay(original) ?? toIsoTime(original)),
    joinUrl: content.conference?.url ?? null,
    reminders: content.reminders,
    htmlLink: content.htmlLink,
    version: event.version,
    createdAt: isoTime(content.createdAt ?? event.createdAt),
    updatedAt: isoTime(content.updatedAt ?? event.updatedAt),
  }
}

export function instanceId(seriesId: string, originalStart: string): string {
  return `${seriesId}_${originalStart}`
}

const TWO_DIGITS = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, '0'))

/** `20261120T080000Z` for a time in ms, `20261120` for a date. */
export function originalStartText(start: string | number): string {
  if (typeof start === 'string') return start.replaceAll('-', '')
  const time = new Date(start)
  const year = time.getUTCFullYear()
  if (!(year >= 1000 && year <= 9999)) return time.toISOString().replaceAll(/[-:]|\.\d+/g, '')
  // A first sync needs a hundred thousand of these texts: cutting an ISO text takes twice as long.
  const date = `${year}${TWO_DIGITS[time.getUTCMonth() + 1]}${TWO_DIGITS[time.getUTCDate()]}`
  return `${date}T${TWO_DIGITS[time.getUTCHours()]}${TWO_DIGITS[time.getUTCMinutes()]}${TWO_DIGITS[time.getUTCSeconds()]}Z`
}

/** The id of the series in the id of an instance. Null for other ids. */
function parseSeriesId(id: string): string | null {
  return /^(cev_[^_]+)_/.exec(id)?.[1] ?? null
}

function toPerson({ email, displayName }: RemoteAttendee) {
  return { email, displayName: displayName || null }
}

/** `day` replaces the date of an all-day event. */
function timeView(time: EventTime, ms: number, day: string | undefined) {
  if ('date' in time) return { date: day ?? time.date, timeZone: null }
  const isNamed = time.timeZone !== null && !isOwnZone(time.timeZone)
  return { dateTime: isoTime(ms), timeZone: isNamed ? time.timeZone : null }
}

function toIsoDay(original: string | null): string | undefined {
  return original !== null && /^\d{8}$/.test(original)
    ? `${original.slice(0, 4)}-${original.slice(4, 6)}-${original.slice(6)}`
    : undefined
}

export function toIsoTime(original: string): string {
  const [, year, month, day, hour, minute, second] = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/.exec(original) ?? []
  return `${year}-${month}-${day}T${hour}:${minute}:${second}.000Z`
}

/** The exclusive end day of an all-day instance: as many days after its start as in its series. */
function shiftedEnd({ start, end }: RemoteEvent, original: string | null): string | undefined {
  const day = toIsoDay(original)
  if (day === undefined || !('date' in start) || !('date' in end)) return undefined
  return new Date(Date.parse(day) + Date.parse(end.date) - Date.parse(start.date)).toISOString().slice(0, 10)
}
