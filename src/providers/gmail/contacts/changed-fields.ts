import { boundedContact, type ContactAddress, type ContactFields, ProviderError } from '../../contract/index.ts'
import { type Json, list, object, text } from '../../shared/rest/index.ts'
import {
  findManager,
  findNickname,
  findOrganization,
  items,
  readAddress,
  readEmail,
  readImAddress,
  readPhone,
  readWebPage,
  remoteContact,
} from './map.ts'

/** Words of Google that are not in lower case. */
const WORDS = ['homeFax', 'workFax', 'otherFax', 'workMobile', 'workPager', 'googleVoice', 'googleTalk', 'netMeeting']
const NAME_PARTS = ['prefix', 'givenName', 'middleName', 'surname', 'suffix'] as const
const JOB = ['companyName', 'department', 'jobTitle', 'officeLocation'] as const

/**
 * The fields of a person after a change, for `updatePersonFields`: Google replaces each as a whole. So what the change does not name, and
 * what we do not show, comes from the current person. Fields that do not change are left out.
 */
export function changedFields(current: Json, changes: Partial<ContactFields>, doing: string): Record<string, Json[]> {
  const before = remoteContact('people/current', current)
  const names = Object.keys(changes) as (keyof ContactFields)[]
  const changed = new Set(names.filter((name) => JSON.stringify(changes[name]) !== JSON.stringify(before[name])))
  const after: ContactFields = { ...before, ...changes }
  const has = (...some: readonly (keyof ContactFields)[]) => some.some((name) => changed.has(name))
  if (has('categories') && after.categories.length > 0) {
    throw unsupported(doing, 'categories', 'Google has no categories. Use groups.')
  }
  return {
    ...(has(...NAME_PARTS) && { names: changeName(current, after) }),
    ...(has('displayName') && !has(...NAME_PARTS) && changeDisplayName(current, after, doing)),
    ...(has('nickname') && {
      nicknames: replaceItem(items(current, 'nicknames'), findNickname(current), { value: after.nickname }),
    }),
    ...(has('birthday') && { birthdays: buildBirthday(after.birthday) }),
    ...(has(...JOB) && { organizations: changeOrganization(current, after) }),
    ...(has('managerName') && { relations: changeManager(current, after.managerName) }),
    ...(has('notes') && { biographies: after.notes === '' ? [] : [{ value: after.notes, contentType: 'TEXT_PLAIN' }] }),
    ...(has('emails') && { emailAddresses: changeList(current, EMAILS, before.emails, after.emails) }),
    ...(has('phoneNumbers') && { phoneNumbers: changeList(current, PHONES, before.phoneNumbers, after.phoneNumbers) }),
    ...(has('physicalAddresses') && {
      addresses: changeList(current, PLACES, before.physicalAddresses, after.physicalAddresses),
    }),
    ...(has('webPages') && { urls: changeList(current, PAGES, before.webPages, after.webPages) }),
    ...(has('imAddresses') && { imClients: changeList(current, CHATS, before.imAddresses, after.imAddresses) }),
  }
}

/** Without what Google adds to each field. */
function writable(item: Json): Record<string, unknown> {
  const {
    metadata: _metadata,
    formattedType: _type,
    formattedProtocol: _protocol,
    canonicalForm: _form,
    ...rest
  } = item
  return rest
}

/** Drops the name as one text, which would contradict its parts. Google makes another of them. */
function changeName(current: Json, contact: ContactFields): Json[] {
  const { displayName, displayNameLastFirst, unstructuredName, ...rest } = writable(object(list(current.names)[0]))
  const name = {
    ...rest,
    honorificPrefix: contact.prefix,
    givenName: contact.givenName,
    middleName: contact.middleName,
    familyName: contact.surname,
    honorificSuffix: contact.suffix,
  }
  const parts = withoutEmpty(name)
  return Object.keys(parts).length === 0 ? [] : [parts]
}

/** Google divides a name that is one text into parts. That would change the parts of a name that has them. */
function changeDisplayName(current: Json, contact: ContactFields, doing: string): { names?: Json[] } {
  const hasParts = NAME_PARTS.some((part) => contact[part] !== '')
  if (hasParts) {
    const why =
      'Google makes the displayName of the parts of the name. Change givenName, middleName, surname, prefix or suffix.'
    throw unsupported(doing, 'displayName', why)
  }
  const isCompany = contact.displayName === '' || contact.displayName === contact.companyName
  if (isCompany) return list(current.names).length === 0 ? {} : { names: [] }
  return { names: [{ unstructuredName: contact.displayName }] }
}

/** Month and day, and the year if it is known. */
function buildBirthday(birthday: string | null): Json[] {
  const [, year, month, day] = /^(\d{4}|-)-(\d{2})-(\d{2})$/.exec(birthday ?? '') ?? []
  if (year === undefined) return []
  return [{ date: { ...(year !== '-' && { year: Number(year) }), month: Number(month), day: Number(day) } }]
}

function changeOrganization(
  current: Json,
  { companyName, department, jobTitle, officeLocation }: ContactFields,
): Json[] {
  const values = { name: companyName, department, title: jobTitle, location: officeLocation }
  return replaceItem(items(current, 'organizations'), findOrganization(current), values)
}

function changeManager(current: Json, managerName: string): Json[] {
  const manager = findManager(current)
  const rest = items(current, 'relations')
  if (managerName === '') return rest.filter((item) => !isSame(item, manager)).map(writable)
  return replaceItem(rest, manager, { type: 'manager', person: managerName })
}

/** The list with an item that has these values in the place of `replaced`, or at the end. Without it, if nothing is left of it. */
function replaceItem(all: readonly Json[], replaced: Json, values: Json): Json[] {
  const item = withoutEmpty({ ...writable(replaced), ...values })
  // The kind of an item is nothing by itself.
  const { type, current, ...rest } = item
  const replacement = Object.keys(rest).length === 0 ? [] : [item]
  const at = all.findIndex((entry) => isSame(entry, replaced))
  if (at === -1) return [...all.map(writable), ...replacement]
  return all.flatMap((entry, index) => (index === at ? replacement : [writable(entry)]))
}

function isSame(left: Json, right: Json): boolean {
  return JSON.stringify(left) === JSON.stringify(right)
}

interface ListField<Value> {
  /** Google's name of the field. */
  name: string
  /** As the contact shows the item, if it does. */
  show(item: Json): Value | undefined
  /** The same for items about the same thing. */
  key(value: Value): string
  write(value: Value, item: Json): Json
}

const EMAILS: ListField<ContactFields['emails'][number]> = {
  name: 'emailAddresses',
  show: (item) => bounded({ emails: [readEmail(item)] }).emails[0],
  key: ({ email }) => email.toLowerCase(),
  write: ({ email, type }, item) => ({ value: email, ...buildType(type, item) }),
}
const PHONES: ListField<ContactFields['phoneNumbers'][number]> = {
  name: 'phoneNumbers',
  show: (item) => bounded({ phoneNumbers: [readPhone(item)] }).phoneNumbers[0],
  key: ({ number }) => number,
  write: ({ number, type }, item) => ({ value: number, ...buildType(type, item) }),
}
const PAGES: ListField<ContactFields['webPages'][number]> = {
  name: 'urls',
  show: (item) => bounded({ webPages: [readWebPage(item)] }).webPages[0],
  key: ({ url }) => url,
  write: ({ url, type }, item) => ({ value: url, ...buildType(type, item) }),
}
const CHATS: ListField<ContactFields['imAddresses'][number]> = {
  name: 'imClients',
  show: (item) => bounded({ imAddresses: [readImAddress(item)] }).imAddresses[0],
  key: ({ imAddress }) => imAddress,
  write: ({ imAddress, type }, item) => {
    const { type: protocol = '' } = buildType(type, { type: item.protocol })
    return { username: imAddress, protocol }
  },
}
const PLACES: ListField<ContactAddress> = {
  name: 'addresses',
  show: (item) => bounded({ physicalAddresses: [readAddress(item)] }).physicalAddresses[0],
  key: (address) => JSON.stringify(Object.values({ ...address, type: '' }).map((part) => part.toLowerCase())),
  write: ({ type, streetAddress, city, postalCode, state, country }, item) => {
    const isUnchanged =
      PLACES.key(readAddress(item)) === PLACES.key({ type, streetAddress, city, postalCode, state, country })
    if (isUnchanged) return buildType(type, item)
    const isOtherCountry = country !== text(item.country)
    const parts = { streetAddress, city, postalCode, region: state, country }
    return { ...parts, formattedValue: '', ...(isOtherCountry && { countryCode: '' }), ...buildType(type, item) }
  },
}

/**
 * The items for the values of a list. An item about the same thing keeps what we do not know of it, and so do items that the contact does
 * not show: those after the first hundred, and web pages that are no web addresses.
 */
function changeList<Value extends { type: string }>(
  current: Json,
  { name, show, key, write }: ListField<Value>,
  before: readonly Value[],
  after: readonly Value[],
): Json[] {
  const shownKeys = new Set(before.map(key))
  const unused = items(current, name).map((item) => {
    const shown = show(item)
    return { item, shown, isShown: shown !== undefined && shownKeys.has(key(shown)) }
  })
  const take = (matches: (shown: Value) => boolean): Json | undefined => {
    const at = unused.findIndex(({ shown, isShown }) => isShown && shown !== undefined && matches(shown))
    return at === -1 ? undefined : unused.splice(at, 1)[0]?.item
  }
  const matched = after.map((value) => take((shown) => key(shown) === key(value)))
  const isPlace = name === 'addresses'
  const written = after.map((value, index) => {
    const same = matched[index] ?? (isPlace ? take(({ type }) => type === value.type) : undefined) ?? {}
    return withoutEmpty({ ...writable(same), ...write(value, same) })
  })
  return [...written, ...unused.filter(({ isShown }) => !isShown).map(({ item }) => writable(item))]
}

/** The word that the item has, or Google's own for it. */
function buildType(type: string, item: Json): { type?: string } {
  const word = type.toLowerCase()
  const known = [text(item.type) ?? '', ...WORDS]
  return { type: known.find((name) => name.toLowerCase() === word) ?? word }
}

/** Cleaned and shortened, as in the contact that the caller has read. */
function bounded(fields: Partial<ContactFields>): ContactFields {
  return boundedContact({ ...remoteContact('people/none', {}), ...fields })
}

function withoutEmpty(item: Json): Json {
  return Object.fromEntries(Object.entries(item).filter(([, value]) => value !== '' && value !== undefined))
}

function unsupported(doing: string, field: string, why: string): ProviderError {
  return new ProviderError('rejected', `${doing}: ${field}: ${why}`, { unsupported: true })
}
