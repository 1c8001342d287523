import { readSubmission } from '../bookings/booking.ts'
import type { BookingLinks } from '../bookings/links.ts'
import type { BookingRow } from '../tables.ts'
import { bookingUid, invitationIcs } from './invitation-ics.ts'
import { wordsFor } from './message-words.ts'

interface CalendarFile {
  booking: BookingRow
  /** The name of the experience. */
  title: string
  /** Those of the person who asks for the file. */
  links: BookingLinks
  publicUrl: string
}

/**
 * The booking as a file for a calendar, without anybody's address: the guest may have entered that of somebody else. It has the UID of
 * the invitation, so that a calendar shows the meeting once.
 */
export function calendarFile({ booking, title, links, publicUrl }: CalendarFile): string {
  const { words } = wordsFor(readSubmission(booking).guest.locale)
  return invitationIcs({
    method: 'PUBLISH',
    uid: bookingUid(booking, publicUrl),
    sequence: booking.sequence,
    changedAt: booking.updatedAt,
    startMs: booking.startMs,
    endMs: booking.endMs,
    summary: title,
    description: `${words.reschedule}: ${links.reschedule}\n${words.cancel}: ${links.cancel}`,
    location: booking.joinUrl ?? '',
    url: booking.joinUrl,
    organizer: null,
    attendees: [],
  })
}
