import type { Tx } from '../../platform/db/index.ts'
import type { RemoteContact, RemoteContactGroup } from '../../providers/contract/index.ts'
import { contactView } from '../api.ts'
import { contactEvent } from '../events.ts'
import {
  changeMembers,
  type GroupChange,
  groupsOfMembers,
  memberKey,
  membersOf,
  removeGroup,
  saveObjectGroup,
} from '../groups.ts'
import { type BookRow, contactStore, isIndexable } from '../store.ts'
import { toMember } from './apply.ts'
import { inTransaction } from './fenced.ts'
import type { AccountBooksDeps, OwnedBooks } from './owned-books.ts'

const MEMBERS_PER_TRANSACTION = 200

/** Stores a group that lists its members. Contacts that join or leave it have changed. */
export async function storeGroup(
  deps: AccountBooksDeps,
  owned: OwnedBooks,
  book: BookRow,
  group: RemoteContactGroup,
  isAnnounced: boolean,
): Promise<void> {
  const { ids, clock } = deps
  if (!isIndexable(group.groupId)) return
  const members = (group.members ?? []).filter(isIndexable)
  const scope = { ids, accountId: owned.accountId, bookId: book.id }
  const change = await inTransaction(deps, owned, (tx) =>
    saveObjectGroup({ ...scope, tx, nowMs: clock.now() }, { ...group, members }),
  )
  await changeInParts(deps, owned, book, change, isAnnounced)
}

/** Deletes a group of an address book. */
export async function removeStoredGroup(
  deps: AccountBooksDeps,
  owned: OwnedBooks,
  book: BookRow,
  groupId: string,
  isAnnounced: boolean,
): Promise<void> {
  const left = [...(await membersOf(deps.db.read, groupId))]
  await changeInParts(deps, owned, book, { groupId, joined: [], left }, isAnnounced)
  await inTransaction(deps, owned, (tx) => removeGroup(tx, groupId, 1))
}

/** In small transactions: after a crash, what is left differs still. */
async function changeInParts(
  deps: AccountBooksDeps,
  owned: OwnedBooks,
  book: BookRow,
  { groupId, joined, left }: GroupChange,
  isAnnounced: boolean,
): Promise<void> {
  for (const part of [...parts(joined, 'joined'), ...parts(left, 'left')]) {
    owned.signal.throwIfAborted()
    await inTransaction(deps, owned, async (tx) => {
      await changeMembers(
        { tx, accountId: owned.accountId, bookId: book.id },
        { groupId, joined: [], left: [], ...part },
      )
      if (isAnnounced) await announce(deps, tx, owned, book, Object.values(part).flat())
    })
  }
}

function parts(uids: readonly string[], kind: 'joined' | 'left'): Partial<Record<'joined' | 'left', string[]>>[] {
  const found: Partial<Record<'joined' | 'left', string[]>>[] = []
  for (let at = 0; at < uids.length; at += MEMBERS_PER_TRANSACTION) {
    found.push({ [kind]: uids.slice(at, at + MEMBERS_PER_TRANSACTION) })
  }
  return found
}

async function announce(
  { events, clock }: AccountBooksDeps,
  tx: Tx,
  { provider }: OwnedBooks,
  book: BookRow,
  uids: readonly string[],
): Promise<void> {
  const store = contactStore(tx, book.id)
  const rows = await store.byUids(uids)
  const groups = await groupsOfMembers(tx, rows.map(toMember))
  const nowMs = clock.now()
  const changed = rows.map((row) => ({ ...row, version: row.version + 1, updatedAt: nowMs }))
  for (const { id, version, updatedAt } of changed) await store.update(id, { version, updatedAt })
  const announced = changed.map((row) => {
    const content: RemoteContact = JSON.parse(row.content)
    const own = groups.get(memberKey(toMember(row))) ?? []
    return contactEvent('contact.updated', provider, contactView({ ...row, content }, provider, own))
  })
  await events.record(tx, announced)
}
