import type { TimeRange } from '../contract/index.ts'
import { buildProp, multigetBody, NAMESPACES, xmlDocument } from '../shared/dav/index.ts'

/** Bodies of CalDAV requests (RFC 4791). */
const OBJECT = ['D:getetag', 'C:calendar-data']

/** The objects with an event that touches the range. */
export function objectsQueryBody(range: TimeRange): string {
  return calendarQueryBody(OBJECT, timeRange(range))
}

/** The ETags of objects with an event that touches the range, and that has the property, if one is given. */
export function etagsQueryBody(range: TimeRange, property?: 'RRULE' | 'RDATE'): string {
  const filter = property === undefined ? '' : `<C:prop-filter name="${property}"/>`
  return calendarQueryBody(['D:getetag'], timeRange(range) + filter)
}

function calendarQueryBody(properties: readonly string[], filter: string): string {
  return xmlDocument(
    `<C:calendar-query ${NAMESPACES}>${buildProp(properties)}<C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter name="VEVENT">${filter}</C:comp-filter></C:comp-filter></C:filter></C:calendar-query>`,
  )
}

/** RFC 4791: a `time-range` has a start, an end, or both. */
function timeRange({ from, to }: TimeRange): string {
  const start = Number.isFinite(from) ? ` start="${utc(from)}"` : ''
  const end = Number.isFinite(to) ? ` end="${utc(to)}"` : ''
  return start === '' && end === '' ? '' : `<C:time-range${start}${end}/>`
}

export function objectsBody(hrefs: readonly string[]): string {
  return multigetBody('C:calendar-multiget', 'C:calendar-data', hrefs)
}

/** `20261120T080000Z` */
function utc(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`
}
