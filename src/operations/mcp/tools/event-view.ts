import * as Type from 'typebox'
import { htmlToText } from '../../../providers/shared/mime/index.ts'
import type { CalendarEvent, CalendarEventTime } from '../../../ui/generated/api-objects.ts'
import { shortText, visibleText } from '../clean-text.ts'
import { textPart } from './message-view.ts'

const MAX_DESCRIPTION = 1000
const MAX_ATTENDEES = 30

export const CALENDAR = Type.Optional(
  Type.String({ minLength: 1, maxLength: 2048, default: 'primary', description: 'An id from list_calendars.' }),
)

export const eventView = Type.Object({
  id: Type.String(),
  calendarId: Type.String(),
  title: Type.String(),
  start: Type.String({ description: 'A time in UTC, or the day of an all-day event.' }),
  end: Type.String({ description: 'Exclusive.' }),
  timeZone: Type.Optional(Type.String()),
  status: Type.String(),
  busy: Type.Boolean(),
  location: Type.Optional(Type.String()),
  description: Type.Optional(Type.String()),
  organizer: Type.Optional(Type.String()),
  attendees: Type.Optional(Type.Array(Type.String(), { description: 'Address and response.' })),
  seriesId: Type.Optional(Type.String()),
  joinUrl: Type.Optional(Type.String()),
})

export function viewEvent(event: CalendarEvent) {
  const { id, calendarId, summary, start, end, status, busy, location, description } = event
  const { organizer, attendees, recurringEventId, joinUrl } = event
  const others = attendees.length - MAX_ATTENDEES
  return {
    id,
    calendarId,
    title: shortText(summary, 300),
    start: formatTime(start),
    end: formatTime(end),
    ...(start.timeZone !== null && { timeZone: start.timeZone }),
    status,
    busy,
    ...(location && { location: shortText(location, 300) }),
    ...(description && { description: descriptionText(description) }),
    ...(organizer !== null && { organizer: shortText(organizer.email, 320) }),
    ...(attendees.length > 0 && {
      attendees: [
        ...attendees
          .slice(0, MAX_ATTENDEES)
          .map(({ email, responseStatus }) => `${shortText(email, 320)} (${responseStatus})`),
        ...(others > 0 ? [`and ${others} more`] : []),
      ],
    }),
    ...(recurringEventId !== null && { seriesId: recurringEventId }),
    ...(joinUrl !== null && { joinUrl: shortText(joinUrl, 2000) }),
  }
}

function formatTime({ dateTime, date }: CalendarEventTime): string {
  return dateTime ?? date ?? ''
}

function descriptionText(description: string): string {
  const text = /<[a-z][^>]*>/i.test(description) ? htmlToText(description) : description
  return textPart(visibleText(text).trim(), 0, MAX_DESCRIPTION).text
}
