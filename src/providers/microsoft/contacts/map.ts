import {
  boundedBook,
  boundedContact,
  type ContactAddress,
  type RemoteBook,
  type RemoteContact,
} from '../../contract/index.ts'
import { type Json, list, object, text, time } from '../../shared/rest/index.ts'

export const FOLDER_FIELDS = 'id,displayName,parentFolderId'

/** Graph's addresses by the type that they have here. */
export const ADDRESSES = { work: 'businessAddress', home: 'homeAddress', other: 'otherAddress' } as const
/** Graph's lists of phone numbers. A mobile number is no list. */
export const PHONES = { work: 'businessPhones', home: 'homePhones' } as const

export const CONTACT_FIELDS = [
  'id,parentFolderId,lastModifiedDateTime,displayName,title,givenName,middleName,surname,generation,nickName,birthday',
  'companyName,department,jobTitle,manager,officeLocation,personalNotes,emailAddresses,businessPhones,homePhones',
  'mobilePhone,businessAddress,homeAddress,otherAddress,businessHomePage,imAddresses,categories',
].join(',')

/** A birthday is a time in UTC. Local midnight plus this is on the same day, in zones from UTC-11 to UTC+12. */
const MIDDAY_MS = 12 * 3_600_000 - 1000
/** The year of a birthday whose year is not known, as Apple's programs write it. */
export const NO_YEAR = '1604'

export function remoteBook(folder: Json, isDefault: boolean): RemoteBook | undefined {
  const bookId = text(folder.id) ?? ''
  if (bookId === '') return undefined
  return boundedBook({ bookId, name: text(folder.displayName) || 'Contacts', isWritable: true, isDefault })
}

/** Undefined without an id. */
export function remoteContact(item: Json): RemoteContact | undefined {
  const contactId = text(item.id) ?? ''
  if (contactId === '') return undefined
  const companyName = text(item.companyName) ?? ''
  return boundedContact({
    contactId,
    uid: contactId,
    etag: text(item['@odata.etag']) ?? null,
    displayName: text(item.displayName) || companyName,
    prefix: text(item.title) ?? '',
    givenName: text(item.givenName) ?? '',
    middleName: text(item.middleName) ?? '',
    surname: text(item.surname) ?? '',
    suffix: text(item.generation) ?? '',
    nickname: text(item.nickName) ?? '',
    birthday: readBirthday(item.birthday),
    companyName,
    department: text(item.department) ?? '',
    jobTitle: text(item.jobTitle) ?? '',
    managerName: text(item.manager) ?? '',
    officeLocation: text(item.officeLocation) ?? '',
    notes: text(item.personalNotes)?.replaceAll('\r\n', '\n') ?? '',
    emails: list(item.emailAddresses).map((email) => ({ email: text(object(email).address) ?? '', type: '' })),
    phoneNumbers: readPhones(item),
    physicalAddresses: readAddresses(item),
    webPages: texts([item.businessHomePage]).map((url) => ({ url, type: 'work' })),
    imAddresses: texts(list(item.imAddresses)).map((imAddress) => ({ imAddress, type: '' })),
    categories: texts(list(item.categories)),
    groupIds: [],
    hasPhoto: null,
    updatedAt: time(item.lastModifiedDateTime) ?? null,
  })
}

function texts(values: readonly unknown[]): string[] {
  return values.flatMap((value) => text(value) || [])
}

function readPhones(item: Json): RemoteContact['phoneNumbers'] {
  const mobile = texts([item.mobilePhone]).map((number) => ({ number, type: 'mobile' }))
  const others = Object.entries(PHONES).flatMap(([type, name]) =>
    texts(list(item[name])).map((number) => ({ number, type })),
  )
  return [...mobile, ...others]
}

function readAddresses(item: Json): ContactAddress[] {
  return Object.entries(ADDRESSES).flatMap(([type, name]) => {
    const { street, city, postalCode, state, countryOrRegion } = object(item[name])
    const address = {
      type,
      streetAddress: text(street)?.replaceAll('\r\n', '\n') ?? '',
      city: text(city) ?? '',
      postalCode: text(postalCode) ?? '',
      state: text(state) ?? '',
      country: text(countryOrRegion) ?? '',
    }
    return Object.values(address).filter((part) => part !== '').length > 1 ? [address] : []
  })
}

/** The day of a time that a program has set to midnight, in whichever zone, or to noon. */
function readBirthday(value: unknown): string | null {
  const ms = time(value)
  if (ms === undefined) return null
  const day = new Date(ms + MIDDAY_MS).toISOString().slice(0, 10)
  return day.startsWith(`${NO_YEAR}-`) ? `-${day.slice(4)}` : day
}
