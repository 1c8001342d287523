import { eventually } from '../kit/eventually.ts'
import type { DavProxy } from '../servers/dav-proxy.ts'
import type { Radicale } from '../servers/radicale.ts'
import { icsObject } from '../servers/radicale-calendar.ts'
import { vcard } from '../servers/vcards.ts'
import { PASSWORD } from './mailboxes.ts'

/** Runs where it is shown as HTML, in whatever browser. */
export const HOSTILE = '<img src=x onerror=alert(1)>'

/** Paths of a calendar and an address book that are refused later. */
interface Refused {
  calendar: string
  book: string
}

/** Adds the user, with two calendars and two address books. One of each has an item that cannot be read. */
export async function writeCollections(radicale: Radicale, user: string): Promise<Refused> {
  await radicale.addUser(user, PASSWORD)
  const work = await radicale.makeCalendar(user, 'Work')
  const at = (hours: number) => ({
    dateTime: new Date(Date.now() + hours * 3_600_000).toISOString().slice(0, 19),
    timeZone: 'Europe/Berlin',
  })
  const inOffice = (hours: number) => ({ ...at(hours), timeZone: 'Our office' })
  const events = [
    { summary: 'Roadmap', start: at(26), end: at(27) },
    { summary: 'Offsite', start: inOffice(50), end: inOffice(52) },
  ]
  for (const event of events) {
    const headers = { 'content-type': 'text/calendar' }
    await radicale.request(user, 'PUT', `${work}${event.summary}.ics`, icsObject([event]), headers)
  }
  const calendar = await radicale.makeCalendar(user, 'meetings', '<D:displayname>Shared meetings</D:displayname>')

  const people = await radicale.makeBook(user, 'People')
  const cards = PEOPLE.map((fields, index) => [`card${index}.vcf`, vcard(`card${index}`, fields)] as const)
  const lines = Array.from({ length: 20_001 }, (_, index) => `X-${index}:1`)
  await radicale.storeObjects(people, [...cards, ['import.vcf', vcard('import', { displayName: 'Import' }, lines)]])
  const book = await radicale.makeBook(user, 'Suppliers')
  await radicale.storeObjects(book, [['lamps.vcf', vcard('lamps', { displayName: 'Lamps of the North' })]])
  return { calendar, book }
}

const PEOPLE = [
  {
    displayName: 'Ines Brandt',
    surname: 'Brandt',
    companyName: 'Brandt Architects',
    emails: [
      { email: 'ines@brandt.example', type: 'work' },
      { email: 'ines@home.example', type: 'home' },
    ],
    categories: ['Customers', 'Friends'],
  },
  {
    displayName: 'Ravi Patel',
    surname: 'Patel',
    companyName: 'Northwind',
    emails: [{ email: 'ravi@northwind.example', type: 'work' }],
    categories: ['Customers'],
  },
  { displayName: 'Mara Lindqvist', surname: 'Lindqvist', emails: [{ email: 'mara@fjord.example', type: 'home' }] },
  { displayName: HOSTILE, emails: [{ email: 'mallory@evil.example', type: 'work' }] },
]

interface Shown {
  failure: object | null
  unreadable: { count: number }
}

/** Waits until everything is stored, refuses a calendar and an address book, and waits until that is known. */
export async function refuseSome({
  call,
  davProxy,
  accountId,
  refused: { calendar, book },
}: {
  call(
    method: string,
    path: string,
  ): Promise<{
    source: string
    calendars: Shown[]
    addressBooks: (Shown & { syncedAt: string | null })[]
  }>
  davProxy: DavProxy
  accountId: string
  refused: Refused
}): Promise<void> {
  const path = `/accounts/${accountId}`
  const soon = `timeMin=${new Date().toISOString()}&timeMax=${new Date(Date.now() + 86_400_000).toISOString()}`
  await eventually(async () => {
    const { source } = await call('GET', `${path}/calendars/${encodeURIComponent(calendar)}/events?${soon}`)
    if (source !== 'stored') throw new Error('The calendar is not stored.')
    const { addressBooks } = await call('GET', `${path}/address-books`)
    if (addressBooks.length === 0 || addressBooks.some(({ syncedAt }) => syncedAt === null)) {
      throw new Error('The address books are not stored.')
    }
  })
  davProxy.refuse(calendar, 403)
  davProxy.refuse(book, 403)
  await call('POST', `${path}/sync`)
  await eventually(async () => {
    const { calendars } = await call('GET', `${path}/calendars`)
    const { addressBooks } = await call('GET', `${path}/address-books`)
    for (const collections of [calendars, addressBooks]) {
      const isRefused = collections.some(({ failure }) => failure !== null)
      if (!isRefused || collections.every(({ unreadable }) => unreadable.count === 0)) throw new Error('Not yet read.')
    }
  })
}
