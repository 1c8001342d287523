import type { TimeRange } from '../../contract/index.ts'

/** Bodies of WebDAV requests (RFC 4918, 4791, 6578). */
const NAMESPACES =
  'xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav" xmlns:CS="http://calendarserver.org/ns/" xmlns:A="http://apple.com/ns/ical/"'

const OBJECT = ['D:getetag', 'C:calendar-data']

/** `properties` as `D:getetag`. */
export function propfindBody(properties: readonly string[]): string {
  return document(`<D:propfind ${NAMESPACES}>${buildProp(properties)}</D:propfind>`)
}

export function syncCollectionBody(token: string): string {
  return document(
    `<D:sync-collection ${NAMESPACES}><D:sync-token>${escaped(token)}</D:sync-token><D:sync-level>1</D:sync-level>${buildProp(['D:getetag'])}</D:sync-collection>`,
  )
}

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
  return document(
    `<C:calendar-query ${NAMESPACES}>${buildProp(properties)}<C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter name="VEVENT">${filter}</C:comp-filter></C:comp-filter></C:filter></C:calendar-query>`,
  )
}

/** RFC 4791: a `time-range` has a start, an end, or both. */
function timeRange({ from, to }: TimeRange): string {
  const start = Number.isFinite(from) ? ` start="${utc(from)}"` : ''
  const end = Number.isFinite(to) ? ` end="${utc(to)}"` : ''
  return start === '' && end === '' ? '' : `<C:time-range${start}${end}/>`
}

export function multigetBody(hrefs: readonly string[]): string {
  const list = hrefs.map((href) => `<D:href>${escaped(href)}</D:href>`).join('')
  return document(`<C:calendar-multiget ${NAMESPACES}>${buildProp(OBJECT)}${list}</C:calendar-multiget>`)
}

function buildProp(properties: readonly string[]): string {
  return `<D:prop>${properties.map((name) => `<${name}/>`).join('')}</D:prop>`
}

function document(root: string): string {
  return `<?xml version="1.0" encoding="utf-8"?>\n${root}`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** `20261120T080000Z` */
function utc(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replaceAll(/[-:]/g, '')}Z`
}
