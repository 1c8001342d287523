import type { Handle } from '../../platform/db/index.ts'
import { invalid } from '../../platform/errors/app-error.ts'
import type { ProviderName } from '../../providers/contract/index.ts'
import type { GroupRow } from '../store.ts'
import type { ContactBody } from './input.ts'

/** How the groups of a contact change. */
interface GroupInput {
  joinGroups: string[]
  leaveGroups: string[]
  /** All words on the contact; absent where they do not change. */
  categories?: string[]
}

/** The groups of a request. `current` are those that the contact has now. Throws `validation_failed`. */
export async function parseGroups(
  handle: Handle,
  { accountId, provider }: { accountId: string; provider: ProviderName },
  groups: ContactBody['groups'],
  current: readonly GroupRow[],
): Promise<GroupInput> {
  if (groups === undefined) return { joinGroups: [], leaveGroups: [] }
  const wanted: GroupRow[] = []
  const categories: string[] = []
  for (const [index, { id, name }] of groups.entries()) {
    const path = `body.groups.${index}`
    if (id !== undefined) {
      const row = await findGroup(handle, accountId, id)
      if (row === undefined) throw invalid(`${path}.id`, 'is not a group of this account')
      if (row.kind === 'category') categories.push(row.name)
      else wanted.push(row)
    } else if (name !== undefined && name.trim() !== '') {
      if (provider === 'gmail') throw invalid(`${path}.name`, 'cannot be used with gmail: send the id of a group')
      categories.push(name.trim())
    } else throw invalid(path, 'must have the id of a group, or the name of a category')
  }
  const isIn = (rows: readonly GroupRow[], row: GroupRow) => rows.some(({ id }) => id === row.id)
  const listed = current.filter(({ kind }) => kind !== 'category')
  return {
    joinGroups: wanted.filter((row) => !isIn(listed, row)).map(({ providerId }) => providerId),
    leaveGroups: listed.filter((row) => !isIn(wanted, row)).map(({ providerId }) => providerId),
    ...(provider !== 'gmail' && { categories: [...new Set(categories)] }),
  }
}

function findGroup(handle: Handle, accountId: string, id: string): Promise<GroupRow | undefined> {
  return handle
    .selectFrom('contactGroups')
    .selectAll()
    .where('id', '=', id)
    .where('accountId', '=', accountId)
    .executeTakeFirst()
}

/** The groups in which a contact is now. */
export function currentGroups(handle: Handle, { bookId, uid }: { bookId: string; uid: string }): Promise<GroupRow[]> {
  return handle
    .selectFrom('contactGroupMembers')
    .innerJoin('contactGroups', 'contactGroups.id', 'contactGroupMembers.groupId')
    .selectAll('contactGroups')
    .where('contactGroupMembers.bookId', '=', bookId)
    .where('contactGroupMembers.memberUid', '=', uid)
    .execute()
}
