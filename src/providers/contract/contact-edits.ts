import type { ContactFields, RemoteContact, RemoteContactGroup } from './contacts.ts'

/**
 * Writes to the contacts of an account. Requests wait as live reads do. Every method rejects with `ProviderError`. After an error other
 * than `not_found`, `rejected` and `conflict`, the change may or may not have been made; each method but `createContact` without a key
 * that the provider keeps may be called again. What the provider stores and this contract does not name remains as it is.
 */
export interface ContactEdits {
  /** The contact as it is now. A deleted one is `not_found`. */
  getContact(target: ContactTarget, signal: AbortSignal): Promise<RemoteContact>
  createContact(request: CreateContact): Promise<RemoteContact>
  updateContact(request: UpdateContact): Promise<RemoteContact>
  /** A contact that does not exist counts as deleted. */
  deleteContact(request: DeleteContact): Promise<void>
  /** Absent where groups are made by naming them on contacts. */
  readonly groups?: ContactGroupEdits
}

export interface ContactGroupEdits {
  /** `exists`: another group has the name, where the provider refuses that. */
  createGroup(request: { name: string; bookId: string; key: string; signal: AbortSignal }): Promise<RemoteContactGroup>
  renameGroup(request: { groupId: string; name: string; signal: AbortSignal }): Promise<RemoteContactGroup>
  /** Its contacts remain. A group that does not exist counts as deleted. */
  deleteGroup(request: { groupId: string; signal: AbortSignal }): Promise<void>
}

export interface ContactTarget {
  bookId: string
  contactId: string
}

interface CreateContact {
  bookId: string
  /** A UUID. Calls with the same one create one contact, and return it, where the provider can find it again. */
  key: string
  contact: ContactFields
  /** Groups of `listGroups`, or of `ContactStep.groups`, to join. */
  joinGroups: string[]
  signal: AbortSignal
}

export interface UpdateContact extends ContactTarget {
  /** Absent members stay as they are. A list replaces the list. What the provider cannot store is `rejected`, with `unsupported`. */
  changes: Partial<ContactFields>
  /** As in `CreateContact`. */
  joinGroups: string[]
  leaveGroups: string[]
  /** The version that the changes are based on: another one is `conflict`. Null: any. */
  etag: string | null
  signal: AbortSignal
}

interface DeleteContact extends ContactTarget {
  etag: string | null
  signal: AbortSignal
}
