import { sha256 } from '../../../platform/crypto/sha256.ts'
import {
  type ContactEdits,
  type ContactTarget,
  ProviderError,
  type RemoteContact,
  type UpdateContact,
} from '../../contract/index.ts'
import { type Json, object, text } from '../../shared/rest/index.ts'
import { type Graph, segment } from '../client.ts'
import { changedProperties } from './changed-fields.ts'
import { CONTACT_FIELDS, remoteContact } from './map.ts'

const READING = 'reading a contact'
const CREATING = 'creating a contact'
const UPDATING = 'changing a contact'
const DELETING = 'deleting a contact'

/** How often a change is made again because the contact changed between reading and writing it. */
const MAX_TRIES = 3
/** A named property of ours, by which the contact of an earlier attempt is found. */
const KEY_PROPERTY = 'String {8f6d8a1c-3b52-4f0e-9a47-6a1f3f1d9c11} Name PosthornRequest'

export function microsoftContactEdits(graph: Graph): ContactEdits {
  async function read({ bookId, contactId }: ContactTarget, doing: string, signal: AbortSignal): Promise<Json> {
    const request = { query: { $select: CONTACT_FIELDS }, doing, signal }
    return inBook(await graph.get(`/me/contacts/${segment(contactId)}`, request, object), bookId, doing)
  }

  async function update(request: UpdateContact): Promise<RemoteContact> {
    const { bookId, contactId, changes, etag, signal } = request
    const current = await read({ bookId, contactId }, UPDATING, signal)
    const version = text(current['@odata.etag'])
    if (etag !== null && version !== etag) throw new ProviderError('conflict', `${UPDATING}: another version is stored`)
    const before = shown(current, UPDATING)
    const body = changedProperties(current, before, changes, UPDATING)
    if (Object.keys(body).length === 0) return before
    const change = { body, doing: UPDATING, signal, ifMatch: version }
    return shown(await graph.send('PATCH', `/me/contacts/${segment(contactId)}`, change), UPDATING)
  }

  /** The contact of an earlier attempt whose response was lost. */
  async function findCreated(bookId: string, key: string, signal: AbortSignal): Promise<Json | undefined> {
    const $filter = `singleValueExtendedProperties/Any(ep: ep/id eq '${KEY_PROPERTY}' and ep/value eq '${key}')`
    const query = { $filter, $select: CONTACT_FIELDS, $top: 1 }
    const { items } = await graph.page(contactsPath(bookId), { query, doing: CREATING, signal })
    return items[0]
  }

  return {
    async getContact(target, signal) {
      return shown(await read(target, READING, signal), READING)
    },

    async createContact({ bookId, key, contact, signal }) {
      const mark = sha256(key, 'hex').slice(0, 32)
      const earlier = await findCreated(bookId, mark, signal)
      if (earlier !== undefined) return shown(earlier, CREATING)
      const body = {
        ...changedProperties({}, NO_CONTACT, contact, CREATING),
        singleValueExtendedProperties: [{ id: KEY_PROPERTY, value: mark }],
      }
      return shown(await graph.send('POST', contactsPath(bookId), { body, doing: CREATING, signal }), CREATING)
    },

    async updateContact(request) {
      for (let tries = 1; ; tries += 1) {
        try {
          return await update(request)
        } catch (error) {
          const isOutdated = error instanceof ProviderError && error.kind === 'conflict'
          if (!isOutdated || request.etag !== null || tries >= MAX_TRIES) throw error
        }
      }
    },

    async deleteContact({ bookId, contactId, etag, signal }) {
      try {
        // One that was deleted is in the Deleted Items, and would be deleted for good.
        const current = await read({ bookId, contactId }, DELETING, signal)
        const version = text(current['@odata.etag'])
        if (etag !== null && version !== etag) {
          throw new ProviderError('conflict', `${DELETING}: another version is stored`)
        }
        const change = { doing: DELETING, signal, ...(etag !== null && { ifMatch: etag }), isRepeatable: true }
        await graph.send('DELETE', `/me/contacts/${segment(contactId)}`, change)
      } catch (error) {
        if (!(error instanceof ProviderError) || error.kind !== 'not_found') throw error
      }
    },
  }
}

function contactsPath(bookId: string): string {
  return `/me/contactFolders/${segment(bookId)}/contacts`
}

/** Graph finds a contact by its id in whichever folder it is, also in the Deleted Items. */
function inBook(contact: Json, bookId: string, doing: string): Json {
  if (contact.parentFolderId !== bookId) throw new ProviderError('not_found', `${doing}: not found`)
  return contact
}

function shown(item: Json, doing: string): RemoteContact {
  const contact = remoteContact(item)
  if (contact === undefined) throw new ProviderError('unavailable', `${doing}: the response could not be read`)
  return contact
}

const NO_CONTACT = shown({ id: 'none' }, CREATING)
