import type { RemoteAddress } from '../../providers/contract/index.ts'
import { publicReason, readSubmission } from '../bookings/booking.ts'
import type { BookingRow } from '../tables.ts'
import { attendeeEmails } from './booking-mail.ts'
import { plainName } from './plain-name.ts'

/**
 * The functions here select the parts of a booking request that messages to guests and attendees show. Answers, notes and metadata are
 * for hosts only. The choice depends on who vouches for the guest:
 *
 *     application   names as the application has sent or seen them
 *     code          the guest entered the names, so that the guest may read them; attendees read plain names
 *     link, null    somebody else may have entered them: plain names only
 */
export function shownGuest(booking: BookingRow): RemoteAddress {
  const { email, name } = readSubmission(booking).guest
  return { email, name: isOwnText(booking) ? name : plainName(name) }
}

/** Each mailbox once, without that of the guest. */
export function shownAttendees(booking: BookingRow): RemoteAddress[] {
  const submission = readSubmission(booking)
  return attendeeEmails(submission).map((email) => {
    const attendee = submission.attendees.find((candidate) => candidate.email === email)
    const name = attendee?.displayName ?? attendee?.name
    const text = typeof name === 'string' ? name : ''
    return { email, name: booking.verifiedBy === 'application' ? text : plainName(text) }
  })
}

/** Why a booking ended. What a guest wrote is for hosts, and for a guest who has proved to be the one who wrote it. */
export function shownReason(booking: BookingRow, isForAttendees: boolean): string | null {
  if (booking.cancelledBy !== 'guest') return publicReason(booking)
  return isOwnText(booking) && !isForAttendees ? booking.reason : null
}

function isOwnText({ verifiedBy }: BookingRow): boolean {
  return verifiedBy === 'application' || verifiedBy === 'code'
}
