import { type Component, properties, property } from '../../../platform/calendar/components.ts'
import type { ContentLine } from '../../../platform/calendar/content-line.ts'
import type { RemoteAttendee } from '../../contract/index.ts'

const MAX_ATTENDEES = 1000

/** Organizer and attendees. `addresses` are those of the user, in lower case. */
export function mapPeople(
  event: Component,
  addresses: ReadonlySet<string>,
): { organizer: RemoteAttendee | null; attendees: RemoteAttendee[] } {
  const line = property(event, 'ORGANIZER')
  const organizerEmail = line === undefined ? undefined : readEmail(line).toLowerCase()
  const attendees = properties(event, 'ATTENDEE', MAX_ATTENDEES).map((attendee) =>
    mapAttendee(attendee, addresses, organizerEmail),
  )
  if (line === undefined) return { organizer: null, attendees }
  const organizer = attendees.find((attendee) => attendee.organizer) ?? {
    ...mapAttendee(line, addresses, organizerEmail),
    responseStatus: 'accepted',
  }
  return { organizer, attendees }
}

function mapAttendee(
  line: ContentLine,
  addresses: ReadonlySet<string>,
  organizerEmail: string | undefined,
): RemoteAttendee {
  const email = readEmail(line)
  return {
    email,
    displayName: line.parameters.get('CN') ?? '',
    responseStatus: mapResponse(line.parameters.get('PARTSTAT')?.toUpperCase()),
    optional: line.parameters.get('ROLE')?.toUpperCase() === 'OPT-PARTICIPANT',
    organizer: email !== '' && email.toLowerCase() === organizerEmail,
    self: addresses.has(email.toLowerCase()),
  }
}

/** iCloud and Google write addresses that are not the person's own as EMAIL. */
export function readEmail({ value, parameters }: ContentLine): string {
  const [, email] = /^mailto:(.*)$/i.exec(value.trim()) ?? []
  const parameter = parameters.get('EMAIL')
  return parameter?.includes('@') ? parameter : (email ?? '')
}

function mapResponse(status: string | undefined): RemoteAttendee['responseStatus'] {
  if (status === 'ACCEPTED' || status === 'DECLINED' || status === 'TENTATIVE') {
    return status === 'ACCEPTED' ? 'accepted' : status === 'DECLINED' ? 'declined' : 'tentative'
  }
  return 'needsAction'
}
