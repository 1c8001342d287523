import type { Route, Routed } from '../fake/router.ts'
import { badRequest, googleError, notFound } from './errors.ts'
import { readMask, respond } from './people.ts'
import { type ContactGroup, groupIds, membership, type PeopleStore } from './people-store.ts'
import type { Sequential } from './people-writes.ts'

const GROUPS = '/v1/contactGroups'
const GROUP_FIELDS = ['clientData', 'groupType', 'memberCount', 'metadata', 'name']
const MAX_NAMES = 1000

/** Contact groups: lists, changes, members. */
export function groupRoutes(getStore: (user: string) => PeopleStore, sequential: Sequential): Route[] {
  const storeOf = ({ user }: Routed) => getStore(user ?? '')

  function list(request: Routed): Response {
    const query = request.url.searchParams
    const mask = query.has('groupFields') ? readMask(request.url, 'groupFields', GROUP_FIELDS) : GROUP_FIELDS
    if (mask instanceof Response) return mask
    const size = Number(query.get('pageSize') ?? 30) || 30
    if (size > MAX_NAMES) return badRequest(`Page size must be between 1 and ${MAX_NAMES}.`)
    const store = storeOf(request)
    const from = Number(query.get('pageToken') ?? 0)
    const all = [...store.groups.values()]
    const next = from + size < all.length ? { nextPageToken: String(from + size) } : { nextSyncToken: 'groups' }
    const shown = all.slice(from, from + size).map((group) => groupResource(store, group, mask))
    return respond({ contactGroups: shown, totalItems: all.length, ...next }, request.url)
  }

  function get(request: Routed): Response {
    const store = storeOf(request)
    const group = store.groups.get(request.params.group ?? '')
    return group === undefined ? notFound() : respond(groupResource(store, group, GROUP_FIELDS), request.url)
  }

  function create(request: Routed): Response {
    const store = storeOf(request)
    const name = readName(request)
    if (name === '') return badRequest('Contact group name is required.')
    if (isTaken(store, name)) return duplicateName()
    store.version += 1
    const id = (0x7a0000 + store.version).toString(16)
    const group = { id, name, formattedName: name, isSystem: false, version: store.version }
    store.groups.set(id, group)
    return respond(groupResource(store, group, GROUP_FIELDS), request.url)
  }

  const changing =
    (act: (request: Routed, store: PeopleStore, group: ContactGroup) => Response) => (request: Routed) => {
      const store = storeOf(request)
      const group = store.groups.get(request.params.group ?? '')
      if (group === undefined) return notFound()
      return group.isSystem ? badRequest('System contact groups can not be modified.') : act(request, store, group)
    }

  const update = changing((request, store, group) => {
    const name = readName(request)
    if (name !== group.name && isTaken(store, name)) return duplicateName()
    store.version += 1
    const changed = { ...group, name, formattedName: name, version: store.version }
    store.groups.set(group.id, changed)
    return respond(groupResource(store, changed, GROUP_FIELDS), request.url)
  })

  const remove = changing((request, store, group) => {
    for (const person of store.membersOf(group.id)) {
      const rest = groupIds(person).filter((id) => id !== group.id)
      person.fields = { ...person.fields, memberships: rest.map(membership) }
      if (request.url.searchParams.get('deleteContacts') === 'true') store.remove(person)
      else store.touch(person)
    }
    store.groups.delete(group.id)
    store.version += 1
    return Response.json({})
  })

  function modify(request: Routed): Response {
    const store = storeOf(request)
    const group = store.groups.get(request.params.group ?? '')
    if (group === undefined) return notFound()
    const { resourceNamesToAdd: add = [], resourceNamesToRemove: removed = [] } = JSON.parse(
      request.body.toString() || '{}',
    ) as { resourceNamesToAdd?: string[]; resourceNamesToRemove?: string[] }
    if (add.length + removed.length > MAX_NAMES) return badRequest(`More than ${MAX_NAMES} resource names.`)
    if (add.length > 0 && group.isSystem && group.id !== 'myContacts' && group.id !== 'starred') {
      return badRequest(`Contacts can not be added to contactGroups/${group.id}.`)
    }
    const missing = [...add, ...removed].filter((name) => store.find(name) === undefined)
    const last: string[] = []
    for (const name of [...add, ...removed]) {
      const person = store.find(name)
      if (person === undefined) continue
      const others = groupIds(person).filter((id) => id !== group.id)
      if (removed.includes(name) && others.length === 0) last.push(name)
      else {
        const ids = add.includes(name) ? [...others, group.id] : others
        person.fields = { ...person.fields, memberships: ids.map(membership) }
        store.touch(person)
      }
    }
    return Response.json({
      ...(missing.length > 0 && { notFoundResourceNames: missing }),
      ...(last.length > 0 && { canNotRemoveLastContactGroupResourceNames: last }),
    })
  }

  return [
    { method: 'GET', pattern: GROUPS, handle: list },
    { method: 'GET', pattern: `${GROUPS}/{group}`, handle: get },
    ...sequential([
      { method: 'POST', pattern: GROUPS, handle: create },
      { method: 'PUT', pattern: `${GROUPS}/{group}`, handle: update },
      { method: 'DELETE', pattern: `${GROUPS}/{group}`, handle: remove },
      { method: 'POST', pattern: `${GROUPS}/{group}/members:modify`, handle: modify },
    ]),
  ]
}

function readName({ body }: Routed): string {
  const { contactGroup } = JSON.parse(body.toString() || '{}') as { contactGroup?: { name?: string } }
  return contactGroup?.name?.trim() ?? ''
}

function isTaken(store: PeopleStore, name: string): boolean {
  return [...store.groups.values()].some((group) => group.name.toLowerCase() === name.toLowerCase())
}

const duplicateName = () =>
  googleError(409, 'alreadyExists', 'ALREADY_EXISTS', 'A contact group with this name already exists.')

function groupResource(store: PeopleStore, group: ContactGroup, mask: readonly string[]): object {
  const { id, name, formattedName, isSystem, version } = group
  return {
    resourceName: `contactGroups/${id}`,
    etag: Buffer.from(`${id}.${version}`).toString('base64'),
    ...(mask.includes('name') && { name, formattedName }),
    ...(mask.includes('groupType') && { groupType: isSystem ? 'SYSTEM_CONTACT_GROUP' : 'USER_CONTACT_GROUP' }),
    ...(mask.includes('memberCount') && { memberCount: store.membersOf(id).length }),
    ...(mask.includes('metadata') && { metadata: { updateTime: '2026-11-01T08:00:00Z' } }),
  }
}
