/** One field of a person, such as an email address. Members that the fake does not use are stored and returned. */
export type Field = Record<string, unknown>

/** The fields of a person, by name: `emailAddresses`. */
export type Person = Record<string, Field[]>

/** Fields of a person that an application can write. Google keeps at most one of those in `SINGLETONS`. */
export const WRITABLE = [
  'addresses',
  'biographies',
  'birthdays',
  'calendarUrls',
  'clientData',
  'emailAddresses',
  'events',
  'externalIds',
  'genders',
  'imClients',
  'interests',
  'locales',
  'locations',
  'memberships',
  'miscKeywords',
  'names',
  'nicknames',
  'occupations',
  'organizations',
  'phoneNumbers',
  'relations',
  'sipAddresses',
  'urls',
  'userDefined',
]
export const READABLE = [...WRITABLE, 'ageRanges', 'coverPhotos', 'metadata', 'photos', 'skills']
export const SINGLETONS = ['biographies', 'birthdays', 'genders', 'names']

export interface StoredPerson {
  resourceName: string
  /** The id of the contact within Google: hexadecimal, and the same under each resource name. */
  sourceId: string
  fields: Person
  version: number
  updatedAt: string
  isDeleted: boolean
  previousNames: string[]
  photo?: Buffer
}

export interface ContactGroup {
  id: string
  name: string
  formattedName: string
  isSystem: boolean
  version: number
}

/** System groups that every user has. Contacts can only be added to the first two. */
const SYSTEM = [
  ['myContacts', 'My Contacts'],
  ['starred', 'Starred'],
  ['friends', 'Friends'],
  ['family', 'Family'],
  ['coworkers', 'Coworkers'],
  ['chatBuddies', 'Chat contacts'],
  ['all', 'All contacts'],
  ['blocked', 'Blocked'],
]

/** The contacts and groups of one user, with a version for each change. */
export class PeopleStore {
  readonly #people = new Map<string, StoredPerson>()
  readonly groups = new Map<string, ContactGroup>()
  version = 0
  /** Older sync tokens have expired. */
  horizon = 0
  /** While set, listings and changes show only what was written up to this version: writes reach them late. */
  heldAt: number | undefined
  #created = 0

  constructor() {
    for (const [id = '', formattedName = ''] of SYSTEM) {
      this.groups.set(id, { id, name: id, formattedName, isSystem: true, version: 0 })
    }
  }

  /** What listings show. */
  get visibleVersion(): number {
    return this.heldAt ?? this.version
  }

  all(): StoredPerson[] {
    return [...this.#people.values()]
  }

  /** By its present or a former resource name. */
  find(resourceName: string): StoredPerson | undefined {
    const named = (person: StoredPerson) =>
      person.resourceName === resourceName || person.previousNames.includes(resourceName)
    return this.all().find((person) => named(person) && !person.isDeleted)
  }

  create(fields: Person): StoredPerson {
    this.#created += 1
    const sourceId = (0x1a2b3c00n + BigInt(this.#created)).toString(16)
    const person: StoredPerson = {
      resourceName: `people/c${BigInt(`0x${sourceId}`)}`,
      sourceId,
      fields: { ...fields, memberships: fields.memberships ?? [membership('myContacts')] },
      version: 0,
      updatedAt: '',
      isDeleted: false,
      previousNames: [],
    }
    this.#people.set(sourceId, person)
    this.touch(person)
    return person
  }

  /** Numbers a change of a contact. */
  touch(person: StoredPerson): void {
    this.version += 1
    person.version = this.version
    person.updatedAt = new Date().toISOString()
  }

  remove(person: StoredPerson): void {
    person.isDeleted = true
    this.touch(person)
  }

  membersOf(groupId: string): StoredPerson[] {
    return this.all().filter((person) => !person.isDeleted && groupIds(person).includes(groupId))
  }
}

export function membership(groupId: string): Field {
  return {
    contactGroupMembership: { contactGroupId: groupId, contactGroupResourceName: `contactGroups/${groupId}` },
  }
}

export function groupIds({ fields }: Pick<StoredPerson, 'fields'>): string[] {
  return (fields.memberships ?? []).flatMap(({ contactGroupMembership }) => {
    const { contactGroupResourceName } = (contactGroupMembership ?? {}) as { contactGroupResourceName?: string }
    return contactGroupResourceName?.replace('contactGroups/', '') ?? []
  })
}

/** The version of the contact's own data, which a change of it has to name. */
export function sourceEtag({ sourceId, version }: StoredPerson): string {
  return `#${Buffer.from(`${sourceId}.${version}`).toString('base64')}`
}

/** A person with the fields of a mask. `isSync`: the response of a request with a sync token. */
export function personResource(
  person: StoredPerson,
  mask: readonly string[],
  { isSync = false, origin }: { isSync?: boolean; origin: string },
): Record<string, unknown> {
  const { resourceName, sourceId, version, updatedAt, isDeleted, previousNames } = person
  const source = { type: 'CONTACT', id: sourceId, etag: sourceEtag(person), updateTime: updatedAt }
  const metadata = {
    ...(!isDeleted && { sources: [source] }),
    ...(isSync && previousNames.length > 0 && { previousResourceNames: previousNames }),
    ...(isSync && isDeleted && { deleted: true }),
    objectType: 'PERSON',
  }
  const shown = { resourceName, etag: `%${Buffer.from(`${version}`).toString('base64')}` }
  const own = mask.includes('metadata') ? { metadata } : {}
  if (isDeleted) return { ...shown, ...own }
  const fields = Object.entries({ ...person.fields, photos: photos(person, origin) })
    .filter(([name, values]) => mask.includes(name) && values.length > 0)
    .map(([name, values]) => [name, values.map((value, index) => complete(name, value, { index, sourceId }))])
  return { ...shown, ...own, ...Object.fromEntries(fields) }
}

function photos({ sourceId, photo, version }: StoredPerson, origin: string): Field[] {
  return photo === undefined
    ? [{ url: `${origin}/contacts-photos/default/s100/photo.jpg`, default: true }]
    : [{ url: `${origin}/contacts-photos/${sourceId}-${version}/s100/photo.jpg` }]
}

/** What Google adds to a field. */
function complete(name: string, field: Field, { index, sourceId }: { index: number; sourceId: string }): Field {
  const metadata = { ...(index === 0 && { primary: true }), source: { type: 'CONTACT', id: sourceId } }
  const type =
    typeof field.type === 'string' ? { formattedType: field.type[0]?.toUpperCase() + field.type.slice(1) } : {}
  const { metadata: _written, ...rest } = field
  return { metadata, ...rest, ...type, ...(name === 'names' && nameTexts(field)) }
}

/** A name that is written as one text is divided at its last space. */
export function parseName(name: Field): Field {
  const hasParts = ['givenName', 'familyName', 'middleName', 'honorificPrefix', 'honorificSuffix'].some(
    (part) => name[part],
  )
  if (hasParts || typeof name.unstructuredName !== 'string') return name
  const [, givenName, familyName] = /^(.*?)(?: (\S+))?$/.exec(name.unstructuredName) ?? []
  return { ...name, givenName, ...(familyName !== undefined && { familyName }) }
}

function nameTexts(name: Field): Field {
  const text = (...parts: string[]) => parts.flatMap((part) => (name[part] ? [String(name[part])] : [])).join(' ')
  const rest = text('honorificPrefix', 'givenName', 'middleName')
  const suffix = name.honorificSuffix ? `, ${name.honorificSuffix}` : ''
  const displayName = `${[rest, text('familyName')].filter(Boolean).join(' ')}${suffix}`
  const displayNameLastFirst = [text('familyName'), rest].filter(Boolean).join(', ')
  return { displayName, displayNameLastFirst, unstructuredName: displayName }
}
