import { type Handle, insertRows, type Tx } from '../platform/db/index.ts'
import type { Ids } from '../platform/ids.ts'
import type { RemoteContact, RemoteContactGroup } from '../providers/contract/index.ts'
import type { GroupName } from './api.ts'
import { type GroupRow, isIndexable } from './store.ts'

/** A contact as groups know it. */
export interface Member {
  bookId: string
  uid: string
}

const ROWS_PER_QUERY = 500

export function memberKey({ bookId, uid }: Member): string {
  return `${bookId} ${uid}`
}

/** The groups of contacts by `memberKey`, each by name. */
export async function groupsOfMembers(
  handle: Handle,
  members: readonly Member[],
): Promise<ReadonlyMap<string, GroupName[]>> {
  const found = new Map<string, GroupName[]>()
  for (const bookId of new Set(members.map((member) => member.bookId))) {
    const uids = [...new Set(members.filter((member) => member.bookId === bookId).map(({ uid }) => uid))]
    for (let start = 0; start < uids.length; start += ROWS_PER_QUERY) {
      const rows = await handle
        .selectFrom('contactGroupMembers')
        .innerJoin('contactGroups', 'contactGroups.id', 'contactGroupMembers.groupId')
        .select(['contactGroups.id', 'contactGroups.name', 'contactGroupMembers.memberUid as uid'])
        .where('contactGroupMembers.bookId', '=', bookId)
        .where('contactGroupMembers.memberUid', 'in', uids.slice(start, start + ROWS_PER_QUERY))
        .orderBy('contactGroups.name')
        .orderBy('contactGroups.id')
        .execute()
      for (const { id, name, uid } of rows) {
        const key = memberKey({ bookId, uid })
        const same = found.get(key)
        if (same === undefined) found.set(key, [{ id, name }])
        else same.push({ id, name })
      }
    }
  }
  return found
}

interface Scope {
  tx: Tx
  ids: Ids
  accountId: string
  bookId: string
  nowMs: number
}

/** The groups that a contact names itself. */
type Named = Pick<RemoteContact, 'uid' | 'groupIds' | 'categories'>

/**
 * Stores to which groups contacts belong by what they say themselves. `known` are the UIDs of contacts that were stored before.
 */
export async function saveOwnGroups(
  scope: Scope,
  contacts: readonly Named[],
  known: ReadonlySet<string>,
): Promise<void> {
  const { tx, accountId, bookId } = scope
  const groups = await ensureGroups(scope, contacts)
  const before = await ownGroups(tx, bookId, [...known])
  const added: { groupId: string; bookId: string; memberUid: string; accountId: string }[] = []
  const left = new Map<string, string[]>()
  for (const contact of contacts) {
    const { uid } = contact
    const current = before.get(uid) ?? new Set<string>()
    const wanted = new Set(namesOf(contact).flatMap((name) => groups.get(groupKey(name)) ?? []))
    for (const groupId of wanted) if (!current.has(groupId)) added.push({ groupId, bookId, memberUid: uid, accountId })
    for (const groupId of current) if (!wanted.has(groupId)) left.set(groupId, [...(left.get(groupId) ?? []), uid])
    before.set(uid, wanted)
  }
  await insertRows(tx, 'contactGroupMembers', added, 'on conflict do nothing')
  for (const [groupId, uids] of left) await removeMembers(tx, { groupId, bookId }, uids)
  await removeEmptyCategories(tx, [...left.keys()])
}

/** For contacts that are deleted. */
export async function leaveOwnGroups(
  { tx, bookId }: Pick<Scope, 'tx' | 'bookId'>,
  uids: readonly string[],
): Promise<void> {
  const own = await ownGroups(tx, bookId, uids)
  const left = new Map<string, string[]>()
  for (const [uid, groupIds] of own) for (const id of groupIds) left.set(id, [...(left.get(id) ?? []), uid])
  for (const [groupId, members] of left) await removeMembers(tx, { groupId, bookId }, members)
  await removeEmptyCategories(tx, [...left.keys()])
}

interface GroupOfContact {
  kind: 'listed' | 'category'
  providerId: string
}

function groupKey({ kind, providerId }: GroupOfContact): string {
  return `${kind} ${providerId}`
}

function namesOf({ groupIds, categories }: Named): GroupOfContact[] {
  return [
    ...groupIds.map((providerId) => ({ kind: 'listed', providerId }) as const),
    ...categories.map((providerId) => ({ kind: 'category', providerId }) as const),
  ].filter(({ providerId }) => isIndexable(providerId))
}

/** The ids of the groups by `groupKey`. A group that is not listed yet gets its name with the next listing. */
async function ensureGroups(
  { tx, ids, accountId, nowMs }: Scope,
  contacts: readonly Named[],
): Promise<Map<string, string>> {
  const wanted = new Map(contacts.flatMap(namesOf).map((name) => [groupKey(name), name]))
  const found = new Map<string, string>()
  const providerIds = [...new Set([...wanted.values()].map(({ providerId }) => providerId))]
  for (let start = 0; start < providerIds.length; start += ROWS_PER_QUERY) {
    const rows = await tx
      .selectFrom('contactGroups')
      .select(['id', 'kind', 'providerId'])
      .where('accountId', '=', accountId)
      .where('kind', 'in', ['listed', 'category'])
      .where('providerId', 'in', providerIds.slice(start, start + ROWS_PER_QUERY))
      .execute()
    for (const { id, kind, providerId } of rows) found.set(`${kind} ${providerId}`, id)
  }
  const missing = [...wanted].flatMap(([key, { kind, providerId }]): GroupRow[] =>
    found.has(key)
      ? []
      : [newGroup({ id: ids('cgr'), accountId, bookId: null, providerId, kind, name: providerId }, nowMs)],
  )
  await insertRows(tx, 'contactGroups', missing)
  for (const row of missing) found.set(`${row.kind} ${row.providerId}`, row.id)
  return found
}

export function newGroup(
  group: Pick<GroupRow, 'id' | 'accountId' | 'bookId' | 'providerId' | 'kind' | 'name'>,
  nowMs: number,
): GroupRow {
  return { ...group, isWritable: 0, createdAt: nowMs, updatedAt: nowMs }
}

async function ownGroups(tx: Tx, bookId: string, uids: readonly string[]): Promise<Map<string, Set<string>>> {
  const found = new Map<string, Set<string>>()
  for (let start = 0; start < uids.length; start += ROWS_PER_QUERY) {
    const rows = await tx
      .selectFrom('contactGroupMembers')
      .innerJoin('contactGroups', 'contactGroups.id', 'contactGroupMembers.groupId')
      .select(['contactGroups.id', 'contactGroupMembers.memberUid as uid'])
      .where('contactGroupMembers.bookId', '=', bookId)
      .where('contactGroupMembers.memberUid', 'in', uids.slice(start, start + ROWS_PER_QUERY))
      .where('contactGroups.kind', 'in', ['listed', 'category'])
      .execute()
    for (const { id, uid } of rows) found.set(uid, (found.get(uid) ?? new Set()).add(id))
  }
  return found
}

async function removeMembers(
  tx: Tx,
  { groupId, bookId }: { groupId: string; bookId: string },
  uids: readonly string[],
): Promise<void> {
  for (let start = 0; start < uids.length; start += ROWS_PER_QUERY) {
    await tx
      .deleteFrom('contactGroupMembers')
      .where('groupId', '=', groupId)
      .where('bookId', '=', bookId)
      .where('memberUid', 'in', uids.slice(start, start + ROWS_PER_QUERY))
      .execute()
  }
}

/** A category exists as long as a contact has it. */
async function removeEmptyCategories(tx: Tx, groupIds: readonly string[]): Promise<void> {
  if (groupIds.length === 0) return
  await tx
    .deleteFrom('contactGroups')
    .where('id', 'in', groupIds)
    .where('kind', '=', 'category')
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('contactGroupMembers')
            .select('memberUid')
            .whereRef('contactGroupMembers.groupId', '=', 'contactGroups.id'),
        ),
      ),
    )
    .execute()
}

/** How a stored group differs from the provider's. */
export interface GroupChange {
  groupId: string
  joined: string[]
  left: string[]
}

/** Stores the group itself, and returns which members differ from those that are stored. */
export async function saveObjectGroup(scope: Scope, group: RemoteContactGroup): Promise<GroupChange> {
  const { tx, ids, accountId, bookId, nowMs } = scope
  const [stored] = await findObjectGroups(tx, accountId, [group.groupId])
  const { groupId: providerId, name } = group
  const row = newGroup({ id: ids('cgr'), accountId, bookId, providerId, kind: 'object', name }, nowMs)
  if (stored === undefined) await insertRows(tx, 'contactGroups', [row])
  else if (stored.name !== name) {
    await tx.updateTable('contactGroups').set({ name, updatedAt: nowMs }).where('id', '=', stored.id).execute()
  }
  const { id: groupId } = stored ?? row
  const current = await membersOf(tx, groupId)
  const wanted = new Set(group.members ?? [])
  return {
    groupId,
    joined: [...wanted].filter((uid) => !current.has(uid)),
    left: [...current].filter((uid) => !wanted.has(uid)),
  }
}

/** The groups that are objects with one of these ids of the provider. */
export async function findObjectGroups(
  handle: Handle,
  accountId: string,
  providerIds: readonly string[],
): Promise<GroupRow[]> {
  const found: GroupRow[] = []
  for (let start = 0; start < providerIds.length; start += ROWS_PER_QUERY) {
    const rows = await handle
      .selectFrom('contactGroups')
      .selectAll()
      .where('accountId', '=', accountId)
      .where('kind', '=', 'object')
      .where('providerId', 'in', providerIds.slice(start, start + ROWS_PER_QUERY))
      .execute()
    found.push(...rows)
  }
  return found
}

/** The groups that are objects of an address book. */
export function listObjectGroups(
  handle: Handle,
  { accountId, id }: { accountId: string; id: string },
): Promise<GroupRow[]> {
  return handle
    .selectFrom('contactGroups')
    .selectAll()
    .where('accountId', '=', accountId)
    .where('kind', '=', 'object')
    .where('bookId', '=', id)
    .execute()
}

export async function membersOf(handle: Handle, groupId: string): Promise<Set<string>> {
  const rows = await handle
    .selectFrom('contactGroupMembers')
    .select('memberUid')
    .where('groupId', '=', groupId)
    .execute()
  return new Set(rows.map(({ memberUid }) => memberUid))
}

export async function countMembers(handle: Handle, groupId: string): Promise<number> {
  const { count } = await handle
    .selectFrom('contactGroupMembers')
    .select((eb) => eb.fn.countAll<number | string>().as('count'))
    .where('groupId', '=', groupId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** Stores some members of a group that lists them. */
export async function changeMembers(
  { tx, accountId, bookId }: Pick<Scope, 'tx' | 'accountId' | 'bookId'>,
  { groupId, joined, left }: GroupChange,
): Promise<void> {
  const rows = joined.map((memberUid) => ({ groupId, bookId, memberUid, accountId }))
  await insertRows(tx, 'contactGroupMembers', rows, 'on conflict do nothing')
  await removeMembers(tx, { groupId, bookId }, left)
}

/** Deletes up to `limit` members of a group, and the group once it has none. Returns how many members were deleted. */
export async function removeGroup(tx: Tx, groupId: string, limit: number): Promise<number> {
  const rows = await tx
    .selectFrom('contactGroupMembers')
    .select(['bookId', 'memberUid'])
    .where('groupId', '=', groupId)
    .limit(limit)
    .execute()
  for (const bookId of new Set(rows.map((row) => row.bookId))) {
    const uids = rows.filter((row) => row.bookId === bookId).map(({ memberUid }) => memberUid)
    await removeMembers(tx, { groupId, bookId }, uids)
  }
  if (rows.length === 0) await tx.deleteFrom('contactGroups').where('id', '=', groupId).execute()
  return rows.length
}
