/** What a calendar shows of a booking. */
export interface CalendarEntry {
  title: string
  /** UTC, RFC 3339. */
  start: string
  end: string
  /** The link to the video conference. */
  joinUrl: string | null | undefined
}

export interface CalendarLinks {
  google: string
  outlook: string
}

/** Links that open a new event in a calendar. The other sites learn nothing but what the guest saves there: no address and no token. */
export function calendarLinks({ title, start, end, joinUrl }: CalendarEntry): CalendarLinks {
  const location = joinUrl ?? ''
  const google = { action: 'TEMPLATE', text: title, dates: `${compact(start)}/${compact(end)}`, location }
  const outlook = { path: '/calendar/action/compose', rru: 'addevent', subject: title, location }
  const times = { startdt: isoSeconds(start), enddt: isoSeconds(end) }
  return {
    google: `https://calendar.google.com/calendar/render?${query(google)}`,
    outlook: `https://outlook.office.com/calendar/0/deeplink/compose?${query({ ...outlook, ...times })}`,
  }
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
