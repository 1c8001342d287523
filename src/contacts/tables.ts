import type { Generated } from 'kysely'

interface ContactBookTable {
  /** `cbk_…`. Does not change when the address book is renamed. */
  id: string
  accountId: string
  providerId: string
  name: string
  isWritable: number
  isDefault: number
  /** The provider's position in the changes; null before the first sync, and after it expired. */
  cursor: string | null
  /** Incremented when all contacts are read again. Afterwards, contacts with an earlier round no longer exist. */
  round: number
  /** 1 while all contacts are read again after the cursor expired: what differs is announced. */
  isComparing: number
  /** When everything was last known to be current; null until the first sync is complete. */
  syncedAt: number | null
  /** The number of the last deletion through the API. Sync may know a contact that it deleted. */
  apiDeletion: number
  /** How many contacts are stored. */
  contacts: number
  /** How many rows of `unreadableContacts` it has. */
  unreadable: number
  /** How often in a row the address book could not be read. */
  failures: number
  /** Why, for the operator; null without failures. */
  failureReason: string | null
  failingSince: number | null
  /** When sync reads a failing address book again. */
  retryAt: number | null
  createdAt: number
  updatedAt: number
}

interface ContactTable {
  /** `cnt_…` */
  id: string
  accountId: string
  bookId: string
  providerId: string
  /** By which groups name it. */
  uid: string
  /** The name without case and accents, by which lists are sorted. */
  sortName: string
  /** Words of names, company, addresses and numbers, without case and accents. */
  searchText: string
  /** The `RemoteContact` as JSON. */
  content: string
  round: number
  version: number
  /** The number of the last change through the API, 0 without one. */
  apiChange: number
  /** How often sync has read the contact and found it as it is stored: a change through the API that began before may be older. */
  confirmations: number
  createdAt: number
  updatedAt: number
}

/** What the filters `email` and `phone` compare. */
interface ContactKeyTable {
  contactId: string
  kind: 'email' | 'phone'
  value: string
  accountId: string
}

interface ContactGroupTable {
  /** `cgr_…` */
  id: string
  accountId: string
  /** The address book whose object the group is; null for a group of the account. */
  bookId: string | null
  /** The provider's id; of a category, the word. */
  providerId: string
  /** `listed`: the provider lists it. `object`: it lists its members itself. `category`: contacts name it, and it exists as long as they do. */
  kind: 'listed' | 'object' | 'category'
  name: string
  isWritable: number
  createdAt: number
  updatedAt: number
}

interface ContactGroupMemberTable {
  groupId: string
  /** The address book of the member. */
  bookId: string
  memberUid: string
  accountId: string
}

interface ContactListingTable {
  accountId: string
  /** When the address books of the account were last listed. */
  listedAt: number
  /** The number of the last change of a group through the API. Sync may have listed the groups before it. */
  groupChange: Generated<number>
}

/** A contact that could not be read, entirely or in part, since it was last changed. */
interface UnreadableContactTable {
  bookId: string
  providerId: string
  reason: string
  round: number
  /** How often in a row the provider did not return the contact; 0 for one that was returned and is not readable. */
  failures: number
  /** When it is read again. Null: with its next change. */
  nextAttemptAt: number | null
  foundAt: number
}

/** A person with whom the account has exchanged messages. */
interface CorrespondentTable {
  /** `cnt_…`, as a contact of an address book. */
  id: string
  accountId: string
  /** In lower case. */
  email: string
  /** Of the latest message that has one; empty without. */
  displayName: string
  sortName: string
  searchText: string
  /** Messages to this person, and from them. */
  sent: number
  received: number
  lastAt: number
  createdAt: number
  updatedAt: number
}

declare module '../platform/db/db.ts' {
  interface Tables {
    contactBooks: ContactBookTable
    contacts: ContactTable
    contactKeys: ContactKeyTable
    contactGroups: ContactGroupTable
    contactGroupMembers: ContactGroupMemberTable
    contactListings: ContactListingTable
    unreadableContacts: UnreadableContactTable
    correspondents: CorrespondentTable
  }
}
