import { truncateText } from '../../platform/formats/text.ts'
import { readSubmission } from '../bookings/booking.ts'
import type { BookingLinks } from '../bookings/links.ts'
import type { Experience } from '../experiences/experience.ts'
import type { BookingRow } from '../tables.ts'

/** Calendars read back 8,192 characters; the links come first. */
const MAX_DESCRIPTION = 8000
const MAX_ANSWERS = 60
const CONTROL_IN_TEXT = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g

/** Answers of the guest, with the labels of the form; other ones by their name. */
export function formatAnswers(
  booking: BookingRow,
  experience: Experience | undefined,
): { label: string; value: string }[] {
  const { responses } = readSubmission(booking)
  const fields = experience?.definition.bookingForm?.fields ?? []
  const labels = new Map(fields.map(({ name, label }) => [name, label]))
  const options = new Map(
    fields.flatMap(({ name, options: some = [] }) => some.map(({ value, label }) => [`${name} ${value}`, label])),
  )
  return Object.entries(responses)
    .slice(0, MAX_ANSWERS)
    .flatMap(([name, answer]) => {
      const values = [answer].flat().filter((value) => ['string', 'number', 'boolean'].includes(typeof value))
      const value = values.map((value) => options.get(`${name} ${value}`) ?? String(value)).join(', ')
      return value === '' ? [] : [{ label: plain(labels.get(name) ?? name), value: plain(value) }]
    })
}

/** Plain text for the event of a host. */
export function eventDescription(booking: BookingRow, links: BookingLinks, experience: Experience | undefined): string {
  const { guest, attendees } = readSubmission(booking)
  const others = attendees.flatMap(({ email, displayName, name }) => {
    const parts = [displayName ?? name, email].filter((part) => typeof part === 'string')
    return parts.length === 0 ? [] : [parts.join(' ')]
  })
  const lines = [
    guest.name === '' ? guest.email : `${guest.name} <${guest.email}>`,
    ...others,
    ...(booking.joinUrl === null ? [] : ['', booking.joinUrl]),
    '',
    `Reschedule: ${links.reschedule}`,
    `Cancel: ${links.cancel}`,
    ...formatAnswers(booking, experience).flatMap(({ label, value }) => ['', `${label}: ${value}`]),
  ]
  return truncateText(lines.map(plain).join('\n'), MAX_DESCRIPTION)
}

function plain(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n').replaceAll(CONTROL_IN_TEXT, '').toWellFormed()
}
