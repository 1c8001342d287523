import { cleanText, truncateText } from '../../platform/formats/text.ts'
import type { ContactFields, RemoteBook, RemoteContact, RemoteContactGroup } from './contacts.ts'

const MAX_LINE = 1024
const MAX_NOTES = 8192
/** Addresses, phone numbers and so on, of each kind. */
const MAX_VALUES = 100
const MAX_GROUPS = 200
const MAX_TYPE = 64
const MAX_ID = 4096
const MAX_MEMBERS = 10_000
/** White space beyond that hides the rest of the text. */
const MAX_READ = 16 * MAX_LINE

/** The contact with clean texts and lists of limited length. Every provider returns its contacts through this. */
export function boundedContact(contact: RemoteContact): RemoteContact {
  const { emails, phoneNumbers, physicalAddresses, webPages, imAddresses, ...rest } = contact
  const fields: ContactFields = {
    displayName: line(rest.displayName),
    prefix: line(rest.prefix),
    givenName: line(rest.givenName),
    middleName: line(rest.middleName),
    surname: line(rest.surname),
    suffix: line(rest.suffix),
    nickname: line(rest.nickname),
    birthday: rest.birthday !== null && isBirthday(rest.birthday) ? rest.birthday : null,
    companyName: line(rest.companyName),
    department: line(rest.department),
    jobTitle: line(rest.jobTitle),
    managerName: line(rest.managerName),
    officeLocation: line(rest.officeLocation),
    notes: truncateText(cleanText(rest.notes), MAX_NOTES),
    emails: values(emails, ({ email, type }) => email !== '' && { email: line(email), type: word(type) }),
    phoneNumbers: values(
      phoneNumbers,
      ({ number, type }) => number !== '' && { number: line(number), type: word(type) },
    ),
    physicalAddresses: values(physicalAddresses, (address) => ({
      type: word(address.type),
      streetAddress: truncateText(cleanText(address.streetAddress).trim(), MAX_LINE),
      city: line(address.city),
      postalCode: line(address.postalCode),
      state: line(address.state),
      country: line(address.country),
    })),
    webPages: values(webPages, ({ url, type }) => isWebLink(url) && { url: url.trim(), type: word(type) }),
    imAddresses: values(imAddresses, ({ imAddress, type }) => {
      return imAddress !== '' && { imAddress: line(imAddress), type: word(type) }
    }),
    categories: unique(rest.categories.map(line)).slice(0, MAX_GROUPS),
  }
  return {
    ...fields,
    contactId: field(rest.contactId, MAX_ID),
    uid: field(rest.uid, MAX_LINE),
    etag: rest.etag === null ? null : field(rest.etag, MAX_LINE),
    groupIds: unique(rest.groupIds.map((id) => field(id, MAX_ID))).slice(0, MAX_GROUPS),
    hasPhoto: rest.hasPhoto,
    updatedAt: rest.updatedAt,
  }
}

/** The same for an address book. */
export function boundedBook(book: RemoteBook): RemoteBook {
  return { ...book, bookId: field(book.bookId, MAX_ID), name: line(book.name) }
}

/** The same for a group. */
export function boundedGroup(group: RemoteContactGroup): RemoteContactGroup {
  const { members, ...rest } = group
  const bounded = { ...rest, groupId: field(rest.groupId, MAX_ID), name: line(rest.name) }
  if (members === undefined) return bounded
  return { ...bounded, members: unique(members.map((uid) => field(uid, MAX_LINE))).slice(0, MAX_MEMBERS) }
}

/** `1985-04-12`, or `--04-12` without the year. */
export function isBirthday(text: string): boolean {
  const [, year, month, day] = /^(\d{4}|-)-(\d{2})-(\d{2})$/.exec(text) ?? []
  if (year === undefined) return false
  // A leap year where none is known.
  const date = new Date(`${year === '-' ? '2000' : year}-${month}-${day}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.getUTCDate() === Number(day)
}

/** The first values that `read` accepts. */
function values<Value, Read>(list: readonly Value[], read: (value: Value) => Read | false): Read[] {
  const found: Read[] = []
  for (const value of list) {
    if (found.length === MAX_VALUES) break
    const result = read(value)
    if (result !== false) found.push(result)
  }
  return found
}

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)].filter((text) => text !== '')
}

function field(text: string, limit: number): string {
  return truncateText(cleanText(text), limit)
}

function line(text: string): string {
  return truncateText(cleanText(text.slice(0, MAX_READ)).replace(/\s+/g, ' ').trim(), MAX_LINE)
}

function word(text: string): string {
  return truncateText(line(text).toLowerCase(), MAX_TYPE)
}

/** Applications show it as a link: anything but a web address could run code there. */
function isWebLink(url: string): boolean {
  return url.length <= MAX_LINE && /^\s*https?:\/\//i.test(url) && URL.canParse(url.trim())
}
