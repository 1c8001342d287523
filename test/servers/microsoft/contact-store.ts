import { randomUUID } from 'node:crypto'
import type { Resource } from './resources.ts'

export interface ContactFolder {
  id: string
  displayName: string
  parentFolderId: string
}

/** A contact with what it is stored under. */
export interface StoredContact {
  id: string
  folderId: string
  fields: Resource
  version: number
  createdAt: string
  updatedAt: string
  properties: { id: string; value: string }[]
  photo?: Buffer
}

const TEXTS = [
  'assistantName',
  'businessHomePage',
  'companyName',
  'department',
  'generation',
  'givenName',
  'initials',
  'jobTitle',
  'manager',
  'middleName',
  'mobilePhone',
  'nickName',
  'officeLocation',
  'personalNotes',
  'profession',
  'spouseName',
  'surname',
  'title',
  'yomiCompanyName',
  'yomiGivenName',
  'yomiSurname',
]
export const LISTS = ['businessPhones', 'categories', 'children', 'emailAddresses', 'homePhones', 'imAddresses']
export const ADDRESSES = ['businessAddress', 'homeAddress', 'otherAddress']
/** Every property has a value. An address that is not known is an empty object. */
const EMPTY: Resource = {
  birthday: null,
  displayName: '',
  fileAs: '',
  ...Object.fromEntries(TEXTS.map((name) => [name, null])),
  ...Object.fromEntries(LISTS.map((name) => [name, []])),
  ...Object.fromEntries(ADDRESSES.map((name) => [name, {}])),
}
export const PROPERTIES = Object.keys(EMPTY)

/** The contacts of one mailbox, in folders. A deleted contact is in the Deleted Items, and can be read by its id. */
export class ContactStore {
  readonly defaultFolder = `AQMkFolder${randomUUID().slice(0, 8)}=`
  readonly deletedItems = `AQMkDeleted${randomUUID().slice(0, 8)}=`
  readonly folders = new Map<string, ContactFolder>()
  readonly contacts = new Map<string, StoredContact>()
  readonly #changed: (contact: StoredContact, from: string | null, to: string | null) => void
  #created = 0

  /** `changed` is called with the folders that a contact was in and is in. */
  constructor(changed: (contact: StoredContact, from: string | null, to: string | null) => void) {
    this.#changed = changed
    this.folders.set(this.defaultFolder, { id: this.defaultFolder, displayName: 'Contacts', parentFolderId: 'root' })
  }

  /** By its id, or by the well-known name of the default folder. */
  folder(id: string): ContactFolder | undefined {
    return this.folders.get(id.toLowerCase() === 'contacts' ? this.defaultFolder : id)
  }

  children(id: string): ContactFolder[] {
    return [...this.folders.values()].filter(({ parentFolderId }) => parentFolderId === id)
  }

  addFolder(displayName: string, parentFolderId: string): string {
    const id = `AAMkFolder${randomUUID().slice(0, 12)}=`
    this.folders.set(id, { id, displayName, parentFolderId })
    return id
  }

  removeFolder(id: string): void {
    for (const contact of this.in(id)) this.move(contact, this.deletedItems)
    for (const child of this.children(id)) this.removeFolder(child.id)
    this.folders.delete(id)
  }

  in(folderId: string): StoredContact[] {
    return [...this.contacts.values()].filter((contact) => contact.folderId === folderId)
  }

  create(folderId: string, fields: Resource, properties: StoredContact['properties'] = []): StoredContact {
    this.#created += 1
    const id = `AAkALgAAcontact${this.#created}-${randomUUID().slice(0, 8)}AA=`
    const now = new Date().toISOString()
    const contact = { id, folderId, fields: {}, version: 0, createdAt: now, updatedAt: now, properties }
    this.contacts.set(id, contact)
    this.change(contact, { displayName: buildDisplayName(fields), ...fields }, null)
    return contact
  }

  /** Names that change without the name that is shown replace it, as Graph documents. */
  change(contact: StoredContact, fields: Resource, from: string | null = contact.folderId): void {
    const isRenamed =
      ['givenName', 'middleName', 'surname'].some((name) => name in fields) && !('displayName' in fields)
    contact.fields = { ...contact.fields, ...fields }
    if (isRenamed) contact.fields.displayName = buildDisplayName(contact.fields)
    contact.version += 1
    contact.updatedAt = new Date().toISOString()
    this.#changed(contact, from, contact.folderId)
  }

  move(contact: StoredContact, folderId: string): void {
    const from = contact.folderId
    contact.folderId = folderId
    contact.version += 1
    this.#changed(contact, from, folderId)
  }
}

function buildDisplayName({ givenName, surname, companyName }: Resource): string {
  return [givenName, surname].filter(Boolean).join(' ') || String(companyName ?? '')
}

export function contactEtag({ id, version }: StoredContact): string {
  return `W/"${Buffer.from(`${id.slice(-12)}.${version}`).toString('base64')}"`
}

/** Without immutable ids, a contact has another id in each folder. */
export function shownId({ id, folderId }: StoredContact, isImmutable: boolean): string {
  return isImmutable ? id : `${id}.${folderId}`
}

export function contactResource(contact: StoredContact, isImmutable: boolean): Resource {
  const { fields, folderId, createdAt, updatedAt } = contact
  return {
    '@odata.etag': contactEtag(contact),
    id: shownId(contact, isImmutable),
    createdDateTime: createdAt,
    lastModifiedDateTime: updatedAt,
    changeKey: contactEtag(contact).slice(3, -1),
    parentFolderId: folderId,
    ...EMPTY,
    ...fields,
  }
}
