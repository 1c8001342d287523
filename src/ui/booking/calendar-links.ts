/** The fields of a booking that a calendar shows. */
export interface CalendarEntry {
  title: string
  /** UTC, RFC 3339. */
  start: string
  end: string
  /** The link to the video conference. */
  joinUrl: string | null | undefined
}

/** A calendar on the web, and the page of it that opens a new event. */
interface CalendarLink {
  name: string
  href: string
}

/**
 * Links that open a new event in a calendar. The other sites learn nothing but what the guest saves there: no address and no token.
 * Microsoft asks for the wrong kind of account when a link names the other host.
 */
export function calendarLinks({ title, start, end, joinUrl }: CalendarEntry): CalendarLink[] {
  const location = joinUrl ?? ''
  const google = { action: 'TEMPLATE', text: title, dates: `${compact(start)}/${compact(end)}`, location }
  const outlook = query({ subject: title, location, startdt: isoSeconds(start), enddt: isoSeconds(end) })
  // Neither has `path` and `rru`, with which Outlook shows spaces as "+". With `/0` Microsoft 365 loads for ever.
  return [
    { name: 'Google', href: `https://calendar.google.com/calendar/render?${query(google)}` },
    { name: 'Outlook.com', href: `https://outlook.live.com/calendar/deeplink/compose?${outlook}` },
    { name: 'Microsoft 365', href: `https://outlook.office.com/calendar/deeplink/compose?${outlook}` },
  ]
}

/** Without empty values, and without halves of characters, which cannot be encoded. Spaces are `%20`, because Outlook shows a `+` as it is. */
function query(members: Readonly<Record<string, string>>): string {
  return Object.entries(members)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}=${encodeURIComponent(value.replaceAll(/\p{Surrogate}/gu, ''))}`)
    .join('&')
}

/** `2026-11-25T09:00:00Z`. */
const isoSeconds = (time: string) => new Date(time).toISOString().replace(/\.\d+/, '')

/** `20261125T090000Z`. */
const compact = (time: string) => isoSeconds(time).replaceAll(/[-:]/g, '')
