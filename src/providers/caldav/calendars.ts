import { parseObject } from '../../platform/calendar/components.ts'
import { findZone } from '../../platform/calendar/zone.ts'
import { ianaZone } from '../../platform/calendar/zone-names.ts'
import { TURN_MS, yieldIfHeld } from '../../platform/concurrency/event-loop.ts'
import type { XmlElement } from '../../platform/formats/xml.ts'
import { boundedCalendar, type CalendarRole, ProviderError, type RemoteCalendar } from '../contract/index.ts'
import { child, type DavClient, type DavResource, propfindBody, readHrefs, resolvePath } from '../shared/dav/index.ts'
import { zoneOfDescription } from './events/zones.ts'
import type { CalendarHome } from './home.ts'

const MAX_CALENDARS = 500
const PROPERTIES = [
  'D:resourcetype',
  'D:displayname',
  'D:owner',
  'D:current-user-privilege-set',
  'C:supported-calendar-component-set',
  'C:calendar-description',
  'C:calendar-timezone',
  'C:calendar-timezone-id',
  'A:calendar-color',
]

/** The collections of the user's homes that may contain events. */
export async function listCalendars(
  client: DavClient,
  home: CalendarHome,
  { nowMs, signal }: { nowMs: number; signal: AbortSignal },
): Promise<RemoteCalendar[]> {
  const doing = 'listing the calendars'
  const found = new Map<string, RemoteCalendar>()
  for (const url of home.homes) {
    const listing = await client.read({
      method: 'PROPFIND',
      url,
      depth: '1',
      body: propfindBody(PROPERTIES),
      doing,
      signal,
    })
    for (const resource of listing.resources) {
      await yieldIfHeld(TURN_MS)
      const path = resolvePath(resource.href, listing.url)
      if (path === undefined || found.size >= MAX_CALENDARS || !hasEvents(resource)) continue
      found.set(path, mapCalendar(path, resource, { home, base: listing.url, nowMs }))
    }
  }
  const calendars = [...found.values()]
  const preferred = await defaultCalendar(client, home, signal)
  const primary =
    calendars.find(({ calendarId }) => calendarId === preferred) ??
    calendars.find(({ role }) => role === 'owner') ??
    calendars[0]
  return calendars.map((calendar) => ({ ...calendar, primary: calendar === primary }))
}

function hasEvents({ status, properties }: DavResource): boolean {
  if (status !== 200 || child(properties.get('D:resourcetype'), 'C:calendar') === undefined) return false
  const components = properties.get('C:supported-calendar-component-set')?.children ?? []
  return (
    components.length === 0 || components.some(({ attributes }) => attributes.get('name')?.toUpperCase() === 'VEVENT')
  )
}

function mapCalendar(
  path: string,
  { properties }: DavResource,
  { home, base, nowMs }: { home: CalendarHome; base: URL; nowMs: number },
): RemoteCalendar {
  const text = (name: string) => properties.get(name)?.text.trim() ?? ''
  return boundedCalendar({
    calendarId: path,
    summary: text('D:displayname') || decodeURIComponent(path.split('/').findLast((part) => part !== '') ?? path),
    description: text('C:calendar-description'),
    timeZone: ianaZone(text('C:calendar-timezone-id')) ?? describedZone(text('C:calendar-timezone'), nowMs),
    backgroundColor: parseColor(text('A:calendar-color')),
    foregroundColor: null,
    role: mapRole(properties, home, base),
    primary: false,
    selected: true,
  })
}

/** The property contains a whole VCALENDAR. */
function describedZone(text: string, nowMs: number): string | null {
  const described = parseObject(text)?.components.find(({ name }) => name === 'VTIMEZONE')
  const zone = described === undefined ? undefined : zoneOfDescription(described, nowMs)
  return zone === undefined ? null : (findZone(zone)?.name ?? null)
}

/** iCal writes `#rrggbbaa`. */
function parseColor(text: string): string | null {
  const [, digits = ''] = /^#([0-9a-f]{6})(?:[0-9a-f]{2})?$/i.exec(text) ?? []
  return digits === '' ? null : `#${digits.toLowerCase()}`
}

/** Owner: the user's principal owns it, and it can be written. Without privileges, the server does not say: owner. */
function mapRole(properties: ReadonlyMap<string, XmlElement>, home: CalendarHome, base: URL): CalendarRole {
  const list = properties.get('D:current-user-privilege-set')
  const owner = child(properties.get('D:owner'), 'D:href')?.text.trim()
  const isOwned = owner === undefined || home.principal === undefined || resolvePath(owner, base) === home.principal
  const privileges = new Set(list?.children.flatMap(({ children }) => children.map(({ name }) => name)))
  const has = (...names: string[]) => names.some((name) => privileges.has(name))
  if (list === undefined || has('D:all', 'D:write', 'D:write-content', 'D:bind')) return isOwned ? 'owner' : 'writer'
  return has('D:read') || !has('C:read-free-busy') ? 'reader' : 'freeBusyReader'
}

/** Servers with scheduling say where invitations go. */
async function defaultCalendar(client: DavClient, { inbox }: CalendarHome, signal: AbortSignal) {
  if (inbox === undefined) return undefined
  const doing = 'reading the default calendar'
  const body = propfindBody(['C:schedule-default-calendar-URL'])
  try {
    const found = await client.read({ method: 'PROPFIND', url: inbox, depth: '0', body, doing, signal })
    return readHrefs(found, 'C:schedule-default-calendar-URL')[0]?.pathname
  } catch (error) {
    if (signal.aborted || !(error instanceof ProviderError)) throw error
    // The first calendar serves as well.
    return undefined
  }
}
