import type { ContactEdits } from './contact-edits.ts'
import type { MailAccess } from './provider.ts'

/** Contacts of an account: the counterpart of `CalendarProvider`, for imap accounts through CardDAV. */
export interface ContactsProvider {
  /** Nothing stays connected between calls. Two of one account may be in use at a time. */
  open(access: MailAccess): ContactsAccount
  edits(access: MailAccess): ContactEdits
}

/** Every method rejects with `ProviderError`, or the signal's reason. */
export interface ContactsAccount {
  /**
   * Every address book that the account sees: CardDAV's address books, Graph's contact folders, and one at Google. Empty when the mail
   * server's provider has none. `isKnown`: address books are stored already. A CardDAV server that nobody configured and that cannot be
   * found is then an error: without address books, the same failure means that there are none.
   */
  listBooks(signal: AbortSignal, isKnown?: boolean): Promise<RemoteBook[]>
  /**
   * The groups that exist by themselves, at Google. Absent where contacts name their groups (`categories`), and where groups are objects
   * among the contacts (`ContactStep.groups`). At most 1,000.
   */
  listGroups?(signal: AbortSignal): Promise<RemoteContactGroup[]>
  /**
   * Reads the changes of an address book since `cursor` (null: everything) in steps of about 250 contacts at most. A step's `cursor` is
   * valid once the step is stored. `cursor_expired`: read again with null; what is not found then was deleted.
   */
  syncContacts(request: ContactSyncRequest): AsyncIterable<ContactStep>
  /** The photo as it is now. Null: there is none. `limit_exceeded` for one that is larger than `maxBytes`. */
  readPhoto(request: ContactPhotoRequest): Promise<ContactPhoto | null>
}

export interface RemoteBook {
  /** The provider's id; for CardDAV the path of the collection. */
  bookId: string
  name: string
  /** False: contacts can only be read. */
  isWritable: boolean
  /** Where contacts are created unless the caller names an address book. One of the list, if there is any. */
  isDefault: boolean
}

export interface ContactSyncRequest {
  bookId: string
  cursor: string | null
  /** Ids of contacts that the provider did not return before: they are read again first. */
  again?: readonly string[]
  signal: AbortSignal
}

export interface ContactStep {
  /** New or changed, complete. */
  found: RemoteContact[]
  /** Groups that are objects of the address book, new or changed. CardDAV only. */
  groups?: RemoteContactGroup[]
  /** Ids of contacts and groups that no longer exist. May contain unknown ones. */
  removed: string[]
  /** Contacts of this step that could not be read, or lost something. A stored version of theirs remains. */
  unreadable?: UnreadableContact[]
  /** Opaque to everyone but the provider; text under 4 KB. */
  cursor: string
}

/** A contact that we cannot read, entirely or in part. */
export interface UnreadableContact {
  contactId: string
  /** Sentences for the operator, which quote at most the beginning of a value. */
  reason: string
  /** The provider did not return it, and may do so later. */
  isRefused?: boolean
}

/** A person or an organisation. The provider has passed it through `boundedContact`. */
export interface RemoteContact extends ContactFields {
  /** Stable while the contact exists. For CardDAV the path of the object. */
  contactId: string
  /** By which `RemoteContactGroup.members` names it: the UID of a vCard. Elsewhere as `contactId`. */
  uid: string
  /** Changes with each version, where the provider has one. */
  etag: string | null
  /** Groups of `listGroups` to which it belongs. */
  groupIds: string[]
  /** Null: the provider does not say; `readPhoto` does. */
  hasPhoto: boolean | null
  /** In ms; null where the provider does not say. */
  updatedAt: number | null
}

/** What a caller reads and sets. A text that is absent is empty. Types are words as `work`, `home`, `mobile` or `other`, in lower case. */
export interface ContactFields {
  /** As the provider shows the person. */
  displayName: string
  /** `Dr.` */
  prefix: string
  givenName: string
  middleName: string
  surname: string
  suffix: string
  nickname: string
  /** `1985-04-12`, or `--04-12` without the year. Null: not known. */
  birthday: string | null
  companyName: string
  department: string
  jobTitle: string
  managerName: string
  officeLocation: string
  /** Plain text, the first 8,192 characters. */
  notes: string
  /** Of each list at most 100. The first email is the preferred one. */
  emails: ContactEmail[]
  phoneNumbers: ContactPhone[]
  physicalAddresses: ContactAddress[]
  webPages: ContactWebPage[]
  imAddresses: ContactImAddress[]
  /** Words on the contact that group it: CATEGORIES of a vCard, Graph's `categories`. Empty at Google. */
  categories: string[]
}

interface ContactEmail {
  email: string
  type: string
}

interface ContactPhone {
  number: string
  type: string
}

export interface ContactAddress {
  type: string
  streetAddress: string
  city: string
  postalCode: string
  state: string
  country: string
}

interface ContactWebPage {
  url: string
  type: string
}

export interface ContactImAddress {
  imAddress: string
  /** The service, in lower case: `skype`. */
  type: string
}

export interface RemoteContactGroup {
  /** For CardDAV the path of the object. */
  groupId: string
  name: string
  /** False: the group cannot be renamed or deleted, as Google's `starred`. */
  isWritable: boolean
  /** The `uid` of each member, where the group lists them: CardDAV only. Otherwise contacts name their groups. At most 10,000. */
  members?: string[]
}

export interface ContactPhotoRequest {
  bookId: string
  contactId: string
  maxBytes: number
  signal: AbortSignal
}

export interface ContactPhoto {
  /** As the provider says, or empty: the caller decides by the bytes what it is. */
  contentType: string
  bytes: Uint8Array
}
