import { cleanText, truncateText } from '../../platform/formats/text.ts'
import type { RemoteAttendee, RemoteCalendar, RemoteEvent } from './calendar.ts'

const MAX_ATTENDEES = 1000
const MAX_DESCRIPTION = 8192
/** Titles, places, names, addresses and links. */
const MAX_FIELD = 2048
/** Limits all lines of a recurrence together. A series with more excluded dates loses the last ones. */
const MAX_RECURRENCE = 64 * 1024
const MAX_REMINDERS = 20
const MAX_ID = 4096

/** The event with clean texts of limited length. Every provider returns its events through this. */
export function boundedEvent(event: RemoteEvent): RemoteEvent {
  return {
    ...event,
    eventId: field(event.eventId, MAX_ID),
    iCalUid: field(event.iCalUid),
    etag: event.etag === null ? null : field(event.etag),
    summary: line(event.summary),
    description: field(event.description, MAX_DESCRIPTION),
    location: line(event.location),
    recurrence: firstLines(event.recurrence),
    recurringEventId: event.recurringEventId === null ? null : field(event.recurringEventId, MAX_ID),
    organizer: event.organizer === null ? null : boundedAttendee(event.organizer),
    attendees: event.attendees.slice(0, MAX_ATTENDEES).map(boundedAttendee),
    conference: event.conference && isWebLink(event.conference.url) ? event.conference : null,
    reminders: event.reminders.slice(0, MAX_REMINDERS),
    htmlLink: event.htmlLink !== null && isWebLink(event.htmlLink) ? event.htmlLink : null,
  }
}

/** The same for a calendar. A colour that is not `#rrggbb` becomes null. */
export function boundedCalendar(calendar: RemoteCalendar): RemoteCalendar {
  return {
    ...calendar,
    summary: line(calendar.summary),
    description: field(calendar.description, MAX_DESCRIPTION),
    backgroundColor: hexColor(calendar.backgroundColor),
    foregroundColor: hexColor(calendar.foregroundColor),
  }
}

function hexColor(color: string | null): string | null {
  return color !== null && /^#[0-9a-f]{6}$/i.test(color) ? color.toLowerCase() : null
}

function boundedAttendee(attendee: RemoteAttendee): RemoteAttendee {
  return { ...attendee, email: line(attendee.email), displayName: line(attendee.displayName) }
}

function field(text: string, limit = MAX_FIELD): string {
  return truncateText(cleanText(text), limit)
}

/** White space beyond that hides the rest of the text. */
const MAX_LINE = 16 * MAX_FIELD

function line(text: string): string {
  return truncateText(cleanText(text.slice(0, MAX_LINE)).replace(/\s+/g, ' ').trim(), MAX_FIELD)
}

function firstLines(lines: readonly string[]): string[] {
  let left = MAX_RECURRENCE
  return lines.filter((text) => {
    left -= text.length
    return left >= 0
  })
}

/** Applications show it as a link: anything but a web address could run code there. */
function isWebLink(url: string): boolean {
  return url.length <= MAX_FIELD && /^https?:\/\//i.test(url) && URL.canParse(url)
}
