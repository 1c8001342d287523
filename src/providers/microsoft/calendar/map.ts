import { dayInBrokenTime } from '../../../platform/calendar/broken-time.ts'
import { DAY_MS, formatDay, parseLocal } from '../../../platform/calendar/days.ts'
import { describeUnreadableRecurrence } from '../../../platform/calendar/unreadable-recurrence.ts'
import { findZone, UTC, type Zone } from '../../../platform/calendar/zone.ts'
import { ianaZone } from '../../../platform/calendar/zone-names.ts'
import {
  assumedEnd,
  boundedCalendar,
  boundedEvent,
  type EventTime,
  type RemoteAttendee,
  type RemoteCalendar,
  type RemoteEvent,
  type UnreadableEvent,
  zonedTime,
} from '../../contract/index.ts'
import { htmlToText } from '../../shared/mime/index.ts'
import { type Json, list, object, text, time, wholeNumber } from '../../shared/rest/index.ts'
import { meetingTextAt } from './body.ts'
import { dayOfOccurrence, recurrenceLines, type SeriesStart, timeOfDay } from './recurrence.ts'

export const CALENDAR_FIELDS = 'id,name,color,hexColor,canEdit,owner,isDefaultCalendar'

export const EVENT_FIELDS = [
  'id,iCalUId,type,seriesMasterId,isCancelled,subject,body,location,start,end,isAllDay,originalStart',
  'originalStartTimeZone,originalEndTimeZone,recurrence,showAs,sensitivity,organizer,isOrganizer,attendees',
  'onlineMeeting,onlineMeetingProvider,onlineMeetingUrl,isReminderOn,reminderMinutesBeforeStart,webLink',
  'createdDateTime,lastModifiedDateTime,changeKey',
].join(',')

/** The colours of Outlook's themes. Calendars without a colour of their own have `auto`. */
const COLORS: Readonly<Record<string, string>> = {
  lightblue: '#a6d1f5',
  lightgreen: '#87d28e',
  lightorange: '#fcab73',
  lightgray: '#c0c0c0',
  lightyellow: '#f0dd64',
  lightteal: '#4aedcd',
  lightpink: '#ff9fc6',
  lightbrown: '#c5a487',
  lightred: '#f88c9b',
}

/** Local midnight plus this is a time on the same day in UTC, in zones from UTC-10 to UTC+13. In others it is a day off. */
const EASTERNMOST_MS = 13 * 3_600_000

interface MailboxContext {
  /** In lower case. */
  ownAddresses: ReadonlySet<string>
  /** IANA: that of the mailbox, because Graph's calendars have none. */
  timeZone: string | null
}

export function remoteCalendar(item: Json, { ownAddresses, timeZone }: MailboxContext): RemoteCalendar | undefined {
  const calendarId = text(item.id)
  if (calendarId === undefined || calendarId === '') return undefined
  const isDefault = item.isDefaultCalendar === true
  const isOwn = isDefault || ownAddresses.has(readOwner(item))
  return boundedCalendar({
    calendarId,
    summary: text(item.name) || calendarId,
    description: '',
    timeZone,
    backgroundColor: text(item.hexColor) || (COLORS[text(item.color)?.toLowerCase() ?? ''] ?? null),
    foregroundColor: null,
    role: isOwn ? 'owner' : item.canEdit === true ? 'writer' : 'reader',
    primary: isDefault,
    selected: true,
  })
}

/** In lower case; empty when Graph does not say. */
export function readOwner(calendar: Json): string {
  return text(object(calendar.owner).address)?.toLowerCase() ?? ''
}

export type EventType = 'singleInstance' | 'occurrence' | 'exception' | 'seriesMaster'

export function readType(item: Json): EventType {
  const type = text(item.type)
  return type === 'occurrence' || type === 'exception' || type === 'seriesMaster' ? type : 'singleInstance'
}

interface EventContext {
  email: string
  master?: Json
  /** IANA: of the calendar. The zone of events that Graph gives none, or one that is not known. */
  timeZone?: string | null
}

/**
 * Maps an event. An occurrence or an exception refers to its master; its original start is a time of the series, which may differ
 * from it in zone and in being all-day. Undefined without id or start.
 */
export function remoteEvent(item: Json, { email, master, timeZone = null }: EventContext): RemoteEvent | undefined {
  const eventId = text(item.id)
  const type = readType(item)
  const series = seriesStart(master ?? item, timeZone)
  const zone = zoneOfStart(item, timeZone)
  const start = eventTime(item.start, item, zone) ?? dayOfBroken(item.start)
  if (eventId === undefined || eventId === '' || start === undefined) return undefined
  const hasEnd = item.end !== undefined && item.end !== null
  const end = eventTime(item.end, item, zoneNamed(item.originalEndTimeZone) ?? zone)
  const recurringEventId = text(item.seriesMasterId) || text(master?.id) || null
  const isInstance = recurringEventId !== null && type !== 'seriesMaster'
  const attendees = list(item.attendees).map((attendee) => mapAttendee(object(attendee), email))
  return boundedEvent({
    eventId,
    // Graph gives each instance another one.
    iCalUid: text(master?.iCalUId) ?? text(item.iCalUId) ?? '',
    etag: text(item['@odata.etag']) ?? text(item.changeKey) ?? null,
    status: item.isCancelled === true ? 'cancelled' : item.showAs === 'tentative' ? 'tentative' : 'confirmed',
    summary: text(item.subject) ?? '',
    description: mapDescription(item),
    location: text(object(item.location).displayName) ?? '',
    start,
    end: end ?? (hasEnd ? assumedEnd(start) : start),
    recurrence: type === 'seriesMaster' && series !== undefined ? recurrenceLines(object(item.recurrence), series) : [],
    recurringEventId: isInstance ? recurringEventId : null,
    originalStart: isInstance ? (originalStart(item, series) ?? start) : null,
    busy: isBusy(item.showAs),
    visibility: mapVisibility(item.sensitivity),
    organizer: mapOrganizer(item),
    attendees,
    conference: mapConference(item),
    reminders: mapReminders(item),
    htmlLink: text(item.webLink) ?? null,
    createdAt: time(item.createdDateTime) ?? null,
    updatedAt: time(item.lastModifiedDateTime) ?? null,
  })
}

/** As in Outlook's own view of somebody's availability. */
export function isBusy(showAs: unknown): boolean {
  return showAs !== 'free' && showAs !== 'workingElsewhere'
}

/** Names the parts of an item that `remoteEvent` could not read. Undefined: none, or none that can be named. */
export function unreadableIn(item: Json, event: RemoteEvent | undefined): UnreadableEvent | undefined {
  const eventId = text(item.id)
  if (eventId === undefined || eventId === '') return undefined
  if (event === undefined) return { eventId, reason: 'It has no start that can be read.' }
  const isSingle = readType(item) === 'seriesMaster' && event.recurrence.length === 0
  const notes = [
    ...(parseInstant(item.start) === undefined ? ['Its start cannot be read: the whole day counts.'] : []),
    ...(item.end !== undefined && item.end !== null && parseInstant(item.end) === undefined
      ? ['Its end cannot be read: a day or an hour counts.']
      : []),
    ...(isSingle ? ['Its recurrence cannot be read: the first instance counts.'] : []),
    ...describeUnreadableRecurrence(event.recurrence),
  ]
  return notes.length === 0 ? undefined : { eventId, reason: notes.join(' ') }
}

/** The cancelled instances of a master, newest first. They have nothing but their original start. */
export function cancelledInstances(master: Json, event: RemoteEvent, timeZone: string | null = null): RemoteEvent[] {
  const ids = list(master.cancelledOccurrences).flatMap((id) => text(id) ?? [])
  return ids
    .flatMap((eventId) => {
      const start = originalStart({ occurrenceId: eventId }, seriesStart(master, timeZone))
      const times = start && { start, end: start, originalStart: start }
      const rest = { attendees: [], reminders: [], conference: null, description: '', recurrence: [], etag: null }
      const cancelled = { status: 'cancelled' as const, recurringEventId: event.eventId }
      return times === undefined ? [] : [boundedEvent({ ...event, ...rest, ...cancelled, ...times, eventId })]
    })
    .sort((one, other) => (one.eventId < other.eventId ? 1 : -1))
}

function zoneNamed(name: unknown): Zone | undefined {
  const iana = ianaZone(text(name) ?? '')
  return iana === undefined ? undefined : findZone(iana)
}

/**
 * The zone of a series' rule, otherwise the zone in which the event was created, otherwise that of the calendar. Exchange does not know the
 * zones of some programs, and calls them `Customized Time Zone` or `tzone://Microsoft/Custom`.
 */
function zoneOfStart(
  { recurrence, originalStartTimeZone, originalEndTimeZone }: Json,
  calendarZone: string | null,
): Zone {
  const names = [object(object(recurrence).range).recurrenceTimeZone, originalStartTimeZone, originalEndTimeZone]
  for (const name of names) {
    const zone = zoneNamed(name)
    if (zone !== undefined) return zone
  }
  return findZone(calendarZone ?? '') ?? UTC
}

/** A point in time. Graph returns UTC unless it is asked for another zone. */
function parseInstant(value: unknown): number | undefined {
  const { dateTime, timeZone } = object(value)
  const localMs = parseLocal(text(dateTime)?.replace(/Z$/, '') ?? '')
  return localMs === undefined ? undefined : (zoneNamed(timeZone) ?? UTC).toUtc(localMs)
}

function eventTime(value: unknown, item: Json, zone: Zone): EventTime | undefined {
  const ms = parseInstant(value)
  if (ms === undefined) return undefined
  if (item.isAllDay !== true) return zonedTime(ms, zone)
  // UTC is what programs name that do not care: it is no place.
  return { date: formatDay(toDay(ms, zone)), ...(zone !== UTC && { timeZone: zone.name }) }
}

function dayOfBroken(value: unknown): EventTime | undefined {
  const date = dayInBrokenTime(text(object(value).dateTime) ?? '')
  return date === undefined ? undefined : { date }
}

/** All-day events begin at midnight in UTC, or in the zone of the event. To participants Graph names another zone, or none. */
function toDay(ms: number, zone: Zone): number {
  const localMs = ms % DAY_MS === 0 ? ms : zone.toLocal(ms)
  return Math.floor((localMs % DAY_MS === 0 ? localMs : ms + EASTERNMOST_MS) / DAY_MS)
}

/** `calendarZone` is that of a series which Graph gives none. */
export function seriesStart(master: Json, calendarZone: string | null = null): SeriesStart | undefined {
  const zone = zoneOfStart(master, calendarZone)
  const ms = parseInstant(master.start)
  if (ms === undefined) return undefined
  const isAllDay = master.isAllDay === true
  return { localMs: isAllDay ? toDay(ms, zone) * DAY_MS : zone.toLocal(ms), zone, isAllDay }
}

/** When the instance would have started. */
function originalStart(item: Json, series: SeriesStart | undefined): EventTime | undefined {
  const ms = time(item.originalStart)
  const day = dayOfOccurrence(item.occurrenceId)
  if (series === undefined) return undefined
  if (ms !== undefined) {
    return series.isAllDay ? { date: formatDay(toDay(ms, series.zone)) } : zonedTime(ms, series.zone)
  }
  if (day === undefined) return undefined
  if (series.isAllDay) return { date: formatDay(day) }
  return zonedTime(series.zone.toUtc(day * DAY_MS + timeOfDay(series.localMs)), series.zone)
}

/** Without what Outlook adds for an online meeting. */
function mapDescription(item: Json): string {
  const { contentType, content } = object(item.body)
  const words = text(content) ?? ''
  const own = words.slice(0, meetingTextAt(words, item))
  const plain = text(contentType)?.toLowerCase() === 'html' ? htmlToText(own) : own
  return plain.replaceAll('\r\n', '\n').trim()
}

function mapVisibility(sensitivity: unknown): RemoteEvent['visibility'] {
  if (sensitivity === 'confidential') return 'confidential'
  return sensitivity === 'personal' || sensitivity === 'private' ? 'private' : 'default'
}

const RESPONSES: Readonly<Record<string, RemoteAttendee['responseStatus']>> = {
  organizer: 'accepted',
  accepted: 'accepted',
  tentativelyAccepted: 'tentative',
  declined: 'declined',
}

function mapAttendee({ emailAddress, type, status }: Json, email: string): RemoteAttendee {
  const { name, address } = object(emailAddress)
  const response = text(object(status).response) ?? ''
  return {
    email: text(address) ?? '',
    displayName: text(name) ?? '',
    responseStatus: RESPONSES[response] ?? 'needsAction',
    optional: type === 'optional',
    organizer: response === 'organizer',
    self: text(address)?.toLowerCase() === email.toLowerCase(),
  }
}

function mapOrganizer({ organizer, isOrganizer }: Json): RemoteAttendee | null {
  const { name, address } = object(object(organizer).emailAddress)
  if (!text(name) && !text(address)) return null
  return {
    email: text(address) ?? '',
    displayName: text(name) ?? '',
    responseStatus: 'accepted',
    optional: false,
    organizer: true,
    self: isOrganizer === true,
  }
}

function mapConference({ onlineMeeting, onlineMeetingProvider, onlineMeetingUrl }: Json): RemoteEvent['conference'] {
  const url = text(object(onlineMeeting).joinUrl) || text(onlineMeetingUrl)
  return url ? { type: text(onlineMeetingProvider) ?? 'unknown', url } : null
}

function mapReminders({ isReminderOn, reminderMinutesBeforeStart }: Json): RemoteEvent['reminders'] {
  const minutes = wholeNumber(reminderMinutesBeforeStart)
  return isReminderOn === true && minutes !== undefined ? [{ method: 'popup', minutes }] : []
}
