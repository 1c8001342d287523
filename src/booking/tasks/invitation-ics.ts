import type { Component } from '../../platform/calendar/components.ts'
import { formatObject, parameterValue, textLine } from '../../platform/calendar/formatting.ts'

interface InvitationPerson {
  email: string
  name: string
  /** Whether the person has agreed: who booked has. */
  accepted?: boolean
}

export interface Invitation {
  method: 'REQUEST' | 'CANCEL' | 'PUBLISH'
  uid: string
  /** Grows with every change, so that programs ignore older messages that arrive late. */
  sequence: number
  startMs: number
  endMs: number
  summary: string
  description: string
  location: string
  /** The address of a video conference. */
  url: string | null
  organizer: InvitationPerson | null
  attendees: readonly InvitationPerson[]
  changedAt: number
}

/** Identifies the meeting in every calendar. */
export function bookingUid({ id }: { id: string }, publicUrl: string): string {
  return `${id}@${new URL(publicUrl).host}`
}

/**
 * An iCalendar object of a booking (RFC 5545, RFC 5546). Every text may contain anything. Times are in UTC: programs look up a zone by
 * its name in a database of their own, which may be older than the last change of its rules.
 */
export function invitationIcs(invitation: Invitation): string {
  const { method, startMs, endMs, organizer, attendees } = invitation
  const event: Component = {
    name: 'VEVENT',
    lines: [
      textLine('UID', invitation.uid),
      `SEQUENCE:${invitation.sequence}`,
      `DTSTAMP:${utc(invitation.changedAt)}`,
      `DTSTART:${utc(startMs)}`,
      `DTEND:${utc(endMs)}`,
      textLine('SUMMARY', invitation.summary),
      ...(invitation.description === '' ? [] : [textLine('DESCRIPTION', invitation.description)]),
      ...(invitation.location === '' ? [] : [textLine('LOCATION', invitation.location)]),
      ...(invitation.url === null ? [] : [`URL:${uri(invitation.url)}`]),
      `STATUS:${method === 'CANCEL' ? 'CANCELLED' : 'CONFIRMED'}`,
      'TRANSP:OPAQUE',
      ...(organizer === null ? [] : [person('ORGANIZER', organizer, [])]),
      ...attendees.map((attendee) =>
        person('ATTENDEE', attendee, [
          'ROLE=REQ-PARTICIPANT',
          attendee.accepted === true ? 'PARTSTAT=ACCEPTED' : 'PARTSTAT=NEEDS-ACTION;RSVP=TRUE',
        ]),
      ),
    ],
    components: [],
  }
  return formatObject({
    name: 'VCALENDAR',
    lines: ['VERSION:2.0', 'PRODID:-//Posthorn//Scheduler//EN', 'CALSCALE:GREGORIAN', `METHOD:${method}`],
    components: [event],
  })
}

function person(property: string, { email, name }: InvitationPerson, more: readonly string[]): string {
  const parameters = [...(name === '' ? [] : [`CN=${parameterValue(name)}`]), ...more]
  return `${[property, ...parameters].join(';')}:mailto:${uri(email)}`
}

/** Nothing in it can end the line. */
function uri(text: string): string {
  return text.replaceAll(/[\u0000-\u0020\u007f-\u009f\u2028\u2029]/g, '')
}

/** `20261125T090000Z`. Calendars count whole seconds. */
function utc(ms: number): string {
  return new Date(ms).toISOString().replaceAll(/[-:]|\.\d+/g, '')
}
