import { type DavHome, type DavService, hrefElements, readHrefs } from '../shared/dav/index.ts'

export const CALDAV: DavService = {
  protocol: 'CalDAV',
  things: 'calendars',
  srv: '_caldavs._tcp',
  wellKnown: '/.well-known/caldav',
  homeSet: 'C:calendar-home-set',
  collection: 'C:calendar',
  properties: ['C:calendar-user-address-set', 'C:schedule-inbox-URL'],
  siblings: [],
}

/** Where the calendars of an account are. */
export interface CalendarHome {
  homes: URL[]
  /** Path of the user's principal, which owns the calendars of the user. */
  principal: string | undefined
  /** Addresses of the user as attendee, in lower case. */
  addresses: string[]
  /** The scheduling inbox, which names the default calendar. */
  inbox: URL | undefined
}

export function toCalendarHome({ homes, principal, document }: DavHome): CalendarHome {
  return {
    homes,
    principal,
    addresses: hrefElements(document, 'C:calendar-user-address-set')
      .map(({ text }) => text.trim().toLowerCase())
      .flatMap((text) => (text.startsWith('mailto:') ? text.slice('mailto:'.length) : [])),
    inbox: readHrefs(document, 'C:schedule-inbox-URL')[0],
  }
}
