import { dayInBrokenTime } from '../../../platform/calendar/broken-time.ts'
import { formatDay, parseDay, parseLocal } from '../../../platform/calendar/days.ts'
import { describeUnreadableRecurrence } from '../../../platform/calendar/unreadable-recurrence.ts'
import { findZone, UTC, type Zone } from '../../../platform/calendar/zone.ts'
import {
  assumedEnd,
  boundedCalendar,
  boundedEvent,
  type CalendarRole,
  type EventTime,
  type RemoteAttendee,
  type RemoteCalendar,
  type RemoteEvent,
  type UnreadableEvent,
  zonedTime,
} from '../../contract/index.ts'
import { type Json, list, object, text, time, wholeNumber } from '../../shared/rest/index.ts'

export const CALENDAR_FIELDS =
  'id,summary,summaryOverride,description,timeZone,backgroundColor,foregroundColor,accessRole,primary,selected,deleted'

const PERSON = 'email,displayName,self'
const WITHOUT_ATTENDEES = [
  'id,iCalUID,etag,status,summary,description,location,start,end,recurrence,recurringEventId,originalStartTime',
  `transparency,visibility,htmlLink,created,updated,reminders,hangoutLink,organizer(${PERSON})`,
  'conferenceData(entryPoints(entryPointType,uri),conferenceSolution(key(type)))',
].join(',')
export const EVENT_FIELDS = `${WITHOUT_ATTENDEES},attendees(${PERSON},responseStatus,optional,organizer)`
/** For a change of the attendees, which Google replaces as a whole: with every member that they have. */
export const CHANGED_FIELDS = `${WITHOUT_ATTENDEES},attendees,attendeesOmitted`

/** Facts from a page that apply to all of its events. */
export interface PageContext {
  /** The calendar's time zone. */
  timeZone?: string | undefined
  defaultReminders: readonly unknown[]
}

/** Undefined for an entry that is not a calendar, or no longer one of the user's. */
export function remoteCalendar(item: Json): RemoteCalendar | undefined {
  const calendarId = text(item.id)
  if (calendarId === undefined || calendarId === '' || item.deleted === true) return undefined
  return boundedCalendar({
    calendarId,
    summary: text(item.summaryOverride) || text(item.summary) || calendarId,
    description: text(item.description) ?? '',
    timeZone: findZone(text(item.timeZone) ?? '')?.name ?? null,
    backgroundColor: text(item.backgroundColor) ?? null,
    foregroundColor: text(item.foregroundColor) ?? null,
    role: mapRole(text(item.accessRole) ?? ''),
    primary: item.primary === true,
    selected: item.selected === true,
  })
}

/** `writerWithoutPrivateAccess` exists besides the documented roles. */
function mapRole(accessRole: string): CalendarRole {
  if (accessRole === 'owner' || accessRole === 'freeBusyReader') return accessRole
  return accessRole.startsWith('writer') ? 'writer' : 'reader'
}

interface MappedItem {
  event?: RemoteEvent
  /** The id of an event that no longer exists. */
  removed?: string
  /** Explains what could not be read of the event, or why there is none. */
  unreadable?: UnreadableEvent
}

/** Maps an event. A cancelled instance of a series is an event, any other cancelled event is removed. Undefined without an id. */
export function mappedItem(item: Json, context: PageContext): MappedItem | undefined {
  const eventId = text(item.id)
  if (eventId === undefined || eventId === '') return undefined
  const recurringEventId = text(item.recurringEventId) ?? null
  const isCancelled = item.status === 'cancelled'
  const originalStart = eventTime(item.originalStartTime, context) ?? null
  if (isCancelled && (recurringEventId === null || originalStart === null)) return { removed: eventId }
  // Google guarantees only the ids and the original start of a cancelled instance.
  const startTime = eventTime(item.start, context) ?? (isCancelled ? originalStart : undefined)
  const start = startTime ?? dayOfBroken(item.start) ?? originalStart
  if (start === null) return { unreadable: { eventId, reason: 'It has no start that can be read.' } }
  const hasEnd = item.end !== undefined && item.end !== null && !isCancelled
  const end = eventTime(item.end, context)
  const attendees = list(item.attendees).map((attendee) => mapAttendee(object(attendee)))
  const event = boundedEvent({
    eventId,
    iCalUid: text(item.iCalUID) ?? '',
    etag: text(item.etag) ?? null,
    status: isCancelled ? 'cancelled' : item.status === 'tentative' ? 'tentative' : 'confirmed',
    summary: text(item.summary) ?? '',
    description: text(item.description) ?? '',
    location: text(item.location) ?? '',
    start,
    end: end ?? (hasEnd ? assumedEnd(start) : start),
    recurrence: list(item.recurrence).flatMap((line) => text(line)?.replace(/^RRULE:DATE(?=[;:])/, 'RDATE') ?? []),
    recurringEventId,
    originalStart: recurringEventId === null ? null : originalStart,
    busy: item.transparency !== 'transparent',
    visibility: mapVisibility(item.visibility),
    organizer: mapOrganizer(object(item.organizer), attendees),
    attendees,
    conference: mapConference(item),
    reminders: mapReminders(object(item.reminders), context),
    htmlLink: text(item.htmlLink) ?? null,
    createdAt: time(item.created) ?? null,
    updatedAt: time(item.updated) ?? null,
  })
  const notes = [
    ...(startTime === undefined ? ['Its start cannot be read: the whole day, or its original start, counts.'] : []),
    ...(hasEnd && end === undefined ? ['Its end cannot be read: a day or an hour counts.'] : []),
    ...describeUnreadableRecurrence(event.recurrence),
  ]
  return { event, ...(notes.length > 0 && { unreadable: { eventId, reason: notes.join(' ') } }) }
}

/** The offset of Google's times is that of the calendar, not that of the event's own zone. */
function eventTime(value: unknown, context: PageContext): EventTime | undefined {
  const { date, dateTime, timeZone } = object(value)
  if (text(date) !== undefined) {
    const day = parseDay(text(date) ?? '')
    return day === undefined ? undefined : { date: formatDay(day) }
  }
  const zone = findZone(text(timeZone) ?? '') ?? findZone(context.timeZone ?? '') ?? UTC
  const ms = parseInstant(text(dateTime) ?? '', zone)
  return ms === undefined ? undefined : zonedTime(ms, zone)
}

const OFFSET = /(?:z|([+-])(\d\d):(\d\d))$/i

/** Without an offset, a time is one of the zone beside it. */
function parseInstant(dateTime: string, zone: Zone): number | undefined {
  const [offset = '', sign, hours = '0', minutes = '0'] = OFFSET.exec(dateTime) ?? []
  const localMs = parseLocal(dateTime.slice(0, dateTime.length - offset.length))
  if (localMs === undefined) return undefined
  if (offset === '') return zone.toUtc(localMs)
  const offsetMs = (Number(hours) * 60 + Number(minutes)) * 60_000
  return sign === '-' ? localMs + offsetMs : localMs - offsetMs
}

function dayOfBroken(value: unknown): EventTime | undefined {
  const { date, dateTime } = object(value)
  const day = dayInBrokenTime(text(date) ?? text(dateTime) ?? '')
  return day === undefined ? undefined : { date: day }
}

function mapVisibility(value: unknown): RemoteEvent['visibility'] {
  return value === 'public' || value === 'private' || value === 'confidential' ? value : 'default'
}

function mapAttendee(person: Json): RemoteAttendee {
  const response = person.responseStatus
  return {
    email: text(person.email) ?? '',
    displayName: text(person.displayName) ?? '',
    responseStatus:
      response === 'accepted' || response === 'declined' || response === 'tentative' ? response : 'needsAction',
    optional: person.optional === true,
    organizer: person.organizer === true,
    self: person.self === true,
  }
}

function mapOrganizer(person: Json, attendees: readonly RemoteAttendee[]): RemoteAttendee | null {
  const organizer = mapAttendee({ ...person, organizer: true, responseStatus: 'accepted' })
  if (organizer.email === '' && organizer.displayName === '') return null
  return attendees.find((attendee) => attendee.organizer && attendee.email === organizer.email) ?? organizer
}

function mapConference({ conferenceData, hangoutLink }: Json): RemoteEvent['conference'] {
  const { entryPoints, conferenceSolution } = object(conferenceData)
  const video = list(entryPoints)
    .map(object)
    .find(({ entryPointType }) => entryPointType === 'video')
  const url = text(video?.uri) ?? text(hangoutLink)
  const type = text(object(object(conferenceSolution).key).type) ?? 'hangoutsMeet'
  return url === undefined ? null : { type, url }
}

function mapReminders({ useDefault, overrides }: Json, { defaultReminders }: PageContext): RemoteEvent['reminders'] {
  return [...(useDefault === true ? defaultReminders : list(overrides))].map(object).flatMap(({ method, minutes }) => {
    const before = wholeNumber(minutes)
    const isKnown = method === 'popup' || method === 'email'
    return isKnown && before !== undefined ? [{ method, minutes: before }] : []
  })
}
