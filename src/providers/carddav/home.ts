import type { DavHome, DavService } from '../shared/dav/index.ts'

export const CARDDAV: DavService = {
  protocol: 'CardDAV',
  things: 'address books',
  srv: '_carddavs._tcp',
  wellKnown: '/.well-known/carddav',
  homeSet: 'CR:addressbook-home-set',
  collection: 'CR:addressbook',
  properties: [],
  // The user enters the URL of calendars: iCloud, Fastmail and GMX have another host for contacts.
  siblings: ['carddav', 'contacts'],
}

export type BookHome = Pick<DavHome, 'homes' | 'principal'>

export function toBookHome({ homes, principal }: DavHome): BookHome {
  return { homes, principal }
}
