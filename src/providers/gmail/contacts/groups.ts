import * as Type from 'typebox'
import {
  boundedGroup,
  type ContactGroupEdits,
  ProviderError,
  type RemoteBook,
  type RemoteContactGroup,
} from '../../contract/index.ts'
import { type Json, object, PageLinks, parser, type RestMailbox, text } from '../../shared/rest/index.ts'

/** All contacts of a user are in one address book. */
const BOOK_ID = 'contacts'

/** Throws `not_found` for another address book. */
export function requireBook(bookId: string, doing: string): void {
  if (bookId !== BOOK_ID) throw new ProviderError('not_found', `${doing}: there is no such address book`)
}

const GROUPS = '/v1/contactGroups'
const GROUP_FIELDS = 'name,groupType'
const PAGE_GROUPS = 1000
const MAX_GROUPS = 1000
/** They contain every contact, or none that the People API shows. */
const UNUSED = ['contactGroups/all', 'contactGroups/blocked', 'contactGroups/chatBuddies']

const LISTING = 'listing the groups of contacts'
const CREATING = 'creating a group of contacts'
const RENAMING = 'renaming a group of contacts'
const DELETING = 'deleting a group of contacts'

const parseGroups = parser(
  Type.Object({
    contactGroups: Type.Optional(Type.Array(Type.Unknown())),
    nextPageToken: Type.Optional(Type.String()),
  }),
)

/** Its name is that of the group which has all contacts, in the user's language. */
export async function readBook(mailbox: RestMailbox, signal: AbortSignal): Promise<RemoteBook> {
  const request = { method: 'GET', path: `${GROUPS}/myContacts`, doing: 'reading the contacts', signal } as const
  const group = await mailbox.json({ ...request, query: { groupFields: GROUP_FIELDS } }, object)
  return { bookId: BOOK_ID, name: readName(group) || 'Contacts', isWritable: true, isDefault: true }
}

export async function listGroups(mailbox: RestMailbox, signal: AbortSignal): Promise<RemoteContactGroup[]> {
  const groups: RemoteContactGroup[] = []
  const links = new PageLinks(LISTING)
  for (let pageToken: string | undefined; groups.length < MAX_GROUPS; ) {
    const query = { groupFields: GROUP_FIELDS, pageSize: PAGE_GROUPS, pageToken }
    const request = { method: 'GET', path: GROUPS, query, doing: LISTING, signal } as const
    const { contactGroups = [], nextPageToken } = await mailbox.json(request, parseGroups)
    groups.push(...contactGroups.flatMap((group) => remoteGroup(object(group)) ?? []))
    if (!nextPageToken) break
    pageToken = links.follow(nextPageToken, contactGroups.length)
  }
  return groups.slice(0, MAX_GROUPS)
}

/** Undefined for a group that says nothing about its members, or has no id. */
function remoteGroup(group: Json): RemoteContactGroup | undefined {
  const groupId = text(group.resourceName) ?? ''
  if (groupId === '' || UNUSED.includes(groupId)) return undefined
  const isWritable = group.groupType === 'USER_CONTACT_GROUP'
  return boundedGroup({ groupId, name: readName(group) || groupId, isWritable })
}

/** System groups have a name in the user's language. */
function readName({ formattedName, name }: Json): string {
  return text(formattedName) || text(name) || ''
}

export function googleGroupEdits(mailbox: RestMailbox): ContactGroupEdits {
  const shown = (group: Json, doing: string): RemoteContactGroup => {
    const mapped = remoteGroup(group)
    if (mapped === undefined) throw new ProviderError('unavailable', `${doing}: the response could not be read`)
    return mapped
  }
  return {
    async createGroup({ name, signal }) {
      const body = { contactGroup: { name }, readGroupFields: GROUP_FIELDS }
      const request = { method: 'POST', path: GROUPS, body, doing: CREATING, signal } as const
      return shown(await mailbox.json(request, object), CREATING)
    },

    async renameGroup({ groupId, name, signal }) {
      const path = groupPath(groupId, RENAMING)
      const body = { contactGroup: { name }, updateGroupFields: 'name', readGroupFields: GROUP_FIELDS }
      const request = { method: 'PUT', path, body, doing: RENAMING, signal, isRepeatable: true } as const
      return shown(await mailbox.json(request, object), RENAMING)
    },

    async deleteGroup({ groupId, signal }) {
      const path = groupPath(groupId, DELETING)
      const request = { method: 'DELETE', path, doing: DELETING, signal, isRepeatable: true } as const
      await mailbox
        .json(request, () => undefined)
        .catch((error: unknown) => {
          if (!(error instanceof ProviderError) || error.kind !== 'not_found') throw error
        })
    },
  }
}

/** Ids are resource names, which are parts of paths: `contactGroups/1a2b`. */
function groupPath(groupId: string, doing: string): string {
  if (!/^contactGroups\/[\w-]+$/.test(groupId)) throw new ProviderError('not_found', `${doing}: not found`)
  return `/v1/${groupId}`
}
