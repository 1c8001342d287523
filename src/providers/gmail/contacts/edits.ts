import {
  type ContactEdits,
  type ContactFields,
  ProviderError,
  type RemoteContact,
  type UpdateContact,
} from '../../contract/index.ts'
import { type Json, object, type RestMailbox, text } from '../../shared/rest/index.ts'
import { changedFields } from './changed-fields.ts'
import { latestPersons, PERSON_QUERY, personPath, readPerson } from './client.ts'
import { googleGroupEdits, requireBook } from './groups.ts'
import { contactSource, items, readGroups, remoteContact } from './map.ts'

const READING = 'reading a contact'
const CREATING = 'creating a contact'
const UPDATING = 'changing a contact'
const DELETING = 'deleting a contact'

/** How often a change is made again because the contact changed between reading and writing it. */
const MAX_TRIES = 3
/** The data of a contact that marks which request created it. Users do not see it. */
const KEY_NAME = 'posthorn-request'
/** Among how many contacts that changed last an earlier attempt is looked for. */
const LATEST = 20
/** Every contact that an application creates is in it, as one that the user creates. */
const MY_CONTACTS = 'contactGroups/myContacts'

/** `changing` has one request in progress at a time, as Google asks for. */
export function googleContactEdits(reading: RestMailbox, changing: RestMailbox): ContactEdits {
  async function update(
    { contactId, changes, joinGroups, leaveGroups, etag, signal }: UpdateContact,
    current: Json,
  ): Promise<RemoteContact> {
    const source = contactSource(current)
    if (etag !== null && text(source.etag) !== etag) {
      throw new ProviderError('conflict', `${UPDATING}: another version is stored`)
    }
    const memberships = changeGroups(readGroups(current), { joinGroups, leaveGroups })
    const fields = { ...changedFields(current, changes, UPDATING), ...(memberships && { memberships }) }
    const names = Object.keys(fields)
    if (names.length === 0) return shown(current, UPDATING)
    const path = personPath(text(current.resourceName) ?? contactId, UPDATING, ':updateContact')
    const { type, id } = source
    const body = { metadata: { sources: [{ type, id, etag: source.etag }] }, ...fields }
    const query = { ...PERSON_QUERY, updatePersonFields: names.join(',') }
    const request = { method: 'PATCH', path, query, body, doing: UPDATING, signal } as const
    return shown(await changing.json(request, object), UPDATING)
  }

  return {
    groups: googleGroupEdits(changing),

    async getContact({ bookId, contactId }, signal) {
      requireBook(bookId, READING)
      return shown(await readPerson(reading, contactId, { doing: READING, signal }), READING)
    },

    async createContact({ bookId, key, contact, joinGroups, signal }) {
      requireBook(bookId, CREATING)
      const earlier = await findCreated(changing, key, signal)
      if (earlier !== undefined) return shown(earlier, CREATING)
      const body = {
        ...changedFields({}, contact satisfies ContactFields, CREATING),
        memberships: changeGroups([], { joinGroups: [MY_CONTACTS, ...joinGroups], leaveGroups: [] }),
        clientData: [{ key: KEY_NAME, value: key }],
      }
      const path = '/v1/people:createContact'
      const request = { method: 'POST', path, query: PERSON_QUERY, body, doing: CREATING, signal } as const
      return shown(await changing.json(request, object), CREATING)
    },

    async updateContact(request) {
      requireBook(request.bookId, UPDATING)
      for (let tries = 1; ; tries += 1) {
        const current = await readPerson(changing, request.contactId, { doing: UPDATING, signal: request.signal })
        try {
          return await update(request, current)
        } catch (error) {
          const isOutdated = error instanceof ProviderError && error.kind === 'conflict'
          if (!isOutdated || request.etag !== null || tries >= MAX_TRIES) throw error
        }
      }
    },

    async deleteContact({ bookId, contactId, etag, signal }) {
      requireBook(bookId, DELETING)
      try {
        // Google compares no version when it deletes a contact.
        const current = etag === null ? undefined : await readPerson(changing, contactId, { doing: DELETING, signal })
        if (current !== undefined && text(contactSource(current).etag) !== etag) {
          throw new ProviderError('conflict', `${DELETING}: another version is stored`)
        }
        const path = personPath(contactId, DELETING, ':deleteContact')
        const request = { method: 'DELETE', path, doing: DELETING, signal, isRepeatable: true } as const
        await changing.json(request, () => undefined)
      } catch (error) {
        if (!(error instanceof ProviderError) || error.kind !== 'not_found') throw error
      }
    },
  }
}

/** A person without a contact source is a profile, which is not the user's to change. */
function shown(person: Json, doing: string): RemoteContact {
  const contactId = text(person.resourceName) ?? ''
  if (contactId === '') throw new ProviderError('unavailable', `${doing}: the response could not be read`)
  if (contactSource(person).type === undefined) throw new ProviderError('not_found', `${doing}: not found`)
  return remoteContact(contactId, person)
}

/** The contact of an earlier attempt whose response was lost. */
async function findCreated(mailbox: RestMailbox, key: string, signal: AbortSignal): Promise<Json | undefined> {
  const latest = await latestPersons(mailbox, LATEST, { doing: CREATING, signal })
  return latest.find((person) =>
    items(person, 'clientData').some((data) => data.key === KEY_NAME && data.value === key),
  )
}

/** The memberships after a change; undefined when there is none. */
function changeGroups(
  before: readonly string[],
  { joinGroups, leaveGroups }: { joinGroups: readonly string[]; leaveGroups: readonly string[] },
): Json[] | undefined {
  const after = [...new Set([...before, ...joinGroups])].filter((id) => !leaveGroups.includes(id))
  if (after.length === before.length && after.every((id) => before.includes(id))) return undefined
  if (after.length === 0) {
    const why = `Google keeps every contact in at least one group. Leave it in ${MY_CONTACTS}, or delete it.`
    throw new ProviderError('rejected', `${UPDATING}: groups: ${why}`, { unsupported: true })
  }
  return after.map((id) => ({ contactGroupMembership: { contactGroupResourceName: id } }))
}
