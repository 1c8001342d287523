import { boundedContact, type ContactAddress, type ContactFields, type RemoteContact } from '../../contract/index.ts'
import { htmlToText } from '../../shared/mime/index.ts'
import { type Json, list, object, text, time, wholeNumber } from '../../shared/rest/index.ts'

const NAME = 'displayName,unstructuredName,honorificPrefix,givenName,middleName,familyName,honorificSuffix'
const ADDRESS = 'type,formattedValue,streetAddress,city,postalCode,region,country'
const FIELDS: Readonly<Record<string, string>> = {
  names: NAME,
  nicknames: 'value,type',
  birthdays: 'date',
  organizations: 'name,department,title,location,current',
  relations: 'person,type',
  biographies: 'value,contentType',
  emailAddresses: 'value,type',
  phoneNumbers: 'value,type',
  addresses: ADDRESS,
  urls: 'value,type',
  imClients: 'username,protocol',
  memberships: 'contactGroupMembership(contactGroupResourceName)',
  photos: 'url,default',
  metadata: 'deleted,previousResourceNames,sources(type,etag,updateTime)',
}
/** The fields of a person that a contact is made of. */
export const PERSON_FIELDS = Object.keys(FIELDS).join(',')
/** The members of them. */
export const LISTED_FIELDS = [
  'resourceName',
  ...Object.entries(FIELDS).map(([name, members]) => `${name}(${members})`),
].join(',')

interface MappedPerson {
  contact?: RemoteContact
  /** Ids under which the contact is no longer known. */
  removed: string[]
}

/** A deleted contact is removed, and so is one under a former name. Undefined without a resource name. */
export function mappedPerson(person: Json): MappedPerson | undefined {
  const contactId = text(person.resourceName)
  if (contactId === undefined || contactId === '') return undefined
  const { deleted, previousResourceNames } = object(person.metadata)
  if (deleted === true) return { removed: [contactId] }
  const removed = list(previousResourceNames).flatMap((name) => text(name) ?? [])
  return { contact: remoteContact(contactId, person), removed: removed.filter((name) => name !== contactId) }
}

export function remoteContact(contactId: string, person: Json): RemoteContact {
  const source = contactSource(person)
  return boundedContact({
    contactId,
    uid: contactId,
    etag: text(source.etag) ?? null,
    ...contactFields(person),
    groupIds: readGroups(person),
    hasPhoto: findPhoto(person) !== undefined,
    updatedAt: time(source.updateTime) ?? null,
  })
}

/** The data that the user has stored about a person, apart from the profile of that person. */
export function contactSource(person: Json): Json {
  const sources = list(object(person.metadata).sources).map(object)
  return sources.find(({ type }) => type === 'CONTACT') ?? {}
}

export function readGroups(person: Json): string[] {
  const memberships = list(person.memberships).map((membership) => object(object(membership).contactGroupMembership))
  return memberships.flatMap(({ contactGroupResourceName }) => text(contactGroupResourceName) ?? [])
}

/** The address of the photo. Undefined for the one that Google draws for persons without a photo. */
export function findPhoto(person: Json): string | undefined {
  const photo = list(person.photos)
    .map(object)
    .find((item) => item.default !== true && text(item.url) !== undefined)
  return text(photo?.url)
}

/** Not yet limited in length. */
function contactFields(person: Json): ContactFields {
  const name = object(list(person.names)[0])
  const organization = findOrganization(person)
  const companyName = text(organization.name) ?? ''
  return {
    displayName: text(name.displayName) || text(name.unstructuredName) || companyName,
    prefix: text(name.honorificPrefix) ?? '',
    givenName: text(name.givenName) ?? '',
    middleName: text(name.middleName) ?? '',
    surname: text(name.familyName) ?? '',
    suffix: text(name.honorificSuffix) ?? '',
    nickname: text(findNickname(person).value) ?? '',
    birthday: readBirthday(person),
    companyName,
    department: text(organization.department) ?? '',
    jobTitle: text(organization.title) ?? '',
    managerName: text(findManager(person).person) ?? '',
    officeLocation: text(organization.location) ?? '',
    notes: readNotes(object(list(person.biographies)[0])),
    emails: items(person, 'emailAddresses').map(readEmail),
    phoneNumbers: items(person, 'phoneNumbers').map(readPhone),
    physicalAddresses: items(person, 'addresses').map(readAddress),
    webPages: items(person, 'urls').map(readWebPage),
    imAddresses: items(person, 'imClients').map(readImAddress),
    categories: [],
  }
}

export function items(person: Json, name: string): Json[] {
  return list(person[name]).map(object)
}

export const readEmail = (item: Json) => ({ email: text(item.value) ?? '', type: readType(item) })
export const readPhone = (item: Json) => ({ number: text(item.value) ?? '', type: readType(item) })
export const readWebPage = (item: Json) => ({ url: text(item.value) ?? '', type: readType(item) })
export const readImAddress = (item: Json) => ({
  imAddress: text(item.username) ?? '',
  type: text(item.protocol)?.toLowerCase() ?? '',
})

/** An address that was written as one text has no parts. */
export function readAddress(item: Json): ContactAddress {
  const parts = {
    streetAddress: text(item.streetAddress) ?? '',
    city: text(item.city) ?? '',
    postalCode: text(item.postalCode) ?? '',
    state: text(item.region) ?? '',
    country: text(item.country) ?? '',
  }
  const hasParts = Object.values(parts).some((part) => part !== '')
  return { type: readType(item), ...parts, ...(!hasParts && { streetAddress: text(item.formattedValue) ?? '' }) }
}

function readType({ type }: Json): string {
  return text(type)?.toLowerCase() ?? ''
}

/** The organisation that is shown: the current one, or else the first. */
export function findOrganization(person: Json): Json {
  const organizations = items(person, 'organizations')
  return organizations.find(({ current }) => current === true) ?? organizations[0] ?? {}
}

/** Other kinds of nicknames are initials or maiden names. */
export function findNickname(person: Json): Json {
  return items(person, 'nicknames').find(({ type }) => type === undefined || type === 'DEFAULT') ?? {}
}

export function findManager(person: Json): Json {
  return items(person, 'relations').find((relation) => readType(relation) === 'manager') ?? {}
}

/** Month and day are needed. A date without a year has the year 0, or none. */
function readBirthday(person: Json): string | null {
  const { year, month, day } = object(object(list(person.birthdays)[0]).date)
  const [number, ...rest] = [wholeNumber(year) ?? 0, wholeNumber(month) ?? 0, wholeNumber(day) ?? 0]
  const [monthText, dayText] = rest.map((part) => String(part).padStart(2, '0'))
  return `${number === 0 ? '-' : String(number).padStart(4, '0')}-${monthText}-${dayText}`
}

function readNotes({ value, contentType }: Json): string {
  const notes = text(value) ?? ''
  return contentType === 'TEXT_HTML' ? htmlToText(notes) : notes
}
