import { type Handle, insertRows, type Tx } from '../platform/db/index.ts'
import type { Ids } from '../platform/ids.ts'
import type { RemoteContactGroup } from '../providers/contract/index.ts'
import { newGroup } from './groups.ts'
import { type GroupRow, isIndexable } from './store.ts'

interface Scope {
  ids: Ids
  accountId: string
  nowMs: number
}

/** Stores the groups that the provider lists. Returns those that it no longer has. */
export async function saveListedGroups(tx: Tx, scope: Scope, listed: readonly RemoteContactGroup[]): Promise<string[]> {
  const rows = await tx
    .selectFrom('contactGroups')
    .selectAll()
    .where('accountId', '=', scope.accountId)
    .where('kind', '=', 'listed')
    .execute()
  const stored = new Map(rows.map((row) => [row.providerId, row]))
  const inserted: GroupRow[] = []
  for (const group of listed) {
    const row = stored.get(group.groupId)
    stored.delete(group.groupId)
    if (!isIndexable(group.groupId)) continue
    if (row === undefined) inserted.push(newListedGroup(scope, group))
    else await updateListedGroup(tx, row, group, scope.nowMs)
  }
  await insertRows(tx, 'contactGroups', inserted, 'on conflict do nothing')
  return [...stored.values()].map(({ id }) => id)
}

/** Stores one of these groups. Sync may have found it already. */
export async function saveListedGroup(tx: Tx, scope: Scope, group: RemoteContactGroup): Promise<GroupRow> {
  const stored = await tx
    .selectFrom('contactGroups')
    .selectAll()
    .where('accountId', '=', scope.accountId)
    .where('kind', '=', 'listed')
    .where('providerId', '=', group.groupId)
    .executeTakeFirst()
  if (stored !== undefined) return updateListedGroup(tx, stored, group, scope.nowMs)
  const row = newListedGroup(scope, group)
  await insertRows(tx, 'contactGroups', [row])
  return row
}

export async function updateListedGroup(
  tx: Tx,
  row: GroupRow,
  group: RemoteContactGroup,
  nowMs: number,
): Promise<GroupRow> {
  const shown = { name: group.name, isWritable: Number(group.isWritable) }
  if (row.name === shown.name && row.isWritable === shown.isWritable) return row
  const changes = { ...shown, updatedAt: nowMs }
  await tx.updateTable('contactGroups').set(changes).where('id', '=', row.id).execute()
  return { ...row, ...changes }
}

function newListedGroup({ ids, accountId, nowMs }: Scope, { groupId, name, isWritable }: RemoteContactGroup): GroupRow {
  const group = { id: ids('cgr'), accountId, bookId: null, providerId: groupId, kind: 'listed', name } as const
  return { ...newGroup(group, nowMs), isWritable: Number(isWritable) }
}

/** The number of the last change of a group through the API. */
export async function findGroupChange(handle: Handle, accountId: string): Promise<number> {
  const row = await handle
    .selectFrom('contactListings')
    .select('groupChange')
    .where('accountId', '=', accountId)
    .executeTakeFirst()
  return Number(row?.groupChange ?? 0)
}

export async function saveGroupChange(tx: Tx, accountId: string, groupChange: number): Promise<void> {
  await tx.updateTable('contactListings').set({ groupChange }).where('accountId', '=', accountId).execute()
}
