import type { Selectable } from 'kysely'
import { type Handle, insertRows, type Tables, type Tx } from '../platform/db/index.ts'
import type { RemoteBook } from '../providers/contract/index.ts'

export type BookRow = Selectable<Tables['contactBooks']>
export type ContactRow = Selectable<Tables['contacts']>
export type GroupRow = Selectable<Tables['contactGroups']>

const ROWS_PER_QUERY = 500

/** Reads and writes address books. The methods that write need a `Tx`. */
export function bookStore(handle: Handle) {
  return {
    /** The default one first, then by name. */
    all(accountId: string): Promise<BookRow[]> {
      return handle
        .selectFrom('contactBooks')
        .selectAll()
        .where('accountId', '=', accountId)
        .orderBy('isDefault', 'desc')
        .orderBy('name')
        .orderBy('id')
        .execute()
    },

    async get(id: string): Promise<BookRow | undefined> {
      return handle.selectFrom('contactBooks').selectAll().where('id', '=', id).executeTakeFirst()
    },

    async update(id: string, changes: Partial<BookRow>): Promise<void> {
      await handle.updateTable('contactBooks').set(changes).where('id', '=', id).execute()
    },

    async count(id: string, difference: number): Promise<void> {
      if (difference === 0) return
      await handle
        .updateTable('contactBooks')
        .set((eb) => ({ contacts: eb('contacts', '+', difference) }))
        .where('id', '=', id)
        .execute()
    },

    async listedAt(accountId: string): Promise<number | undefined> {
      const row = await handle
        .selectFrom('contactListings')
        .select('listedAt')
        .where('accountId', '=', accountId)
        .executeTakeFirst()
      return row && Number(row.listedAt)
    },
  }
}

const MAX_ID_BYTES = 1024

/** PostgreSQL refuses index entries of more than 2,704 bytes. No provider has ids of this length. */
export function isIndexable(providerId: string): boolean {
  return Buffer.byteLength(providerId) <= MAX_ID_BYTES
}

/** The row of a listed address book. A known one keeps its id and its state. */
export function newBookRow(
  remote: RemoteBook,
  { id, accountId, nowMs }: { id: string; accountId: string; nowMs: number },
  stored?: BookRow,
): BookRow {
  const state = stored ?? {
    id,
    accountId,
    cursor: null,
    round: 0,
    isComparing: 0,
    syncedAt: null,
    apiDeletion: 0,
    contacts: 0,
    unreadable: 0,
    failures: 0,
    failureReason: null,
    failingSince: null,
    retryAt: null,
    createdAt: nowMs,
  }
  return {
    ...state,
    providerId: remote.bookId,
    name: remote.name,
    isWritable: Number(remote.isWritable),
    isDefault: Number(remote.isDefault),
    updatedAt: nowMs,
  }
}

/** Stores what a listing returned. Known address books keep their ids. */
export async function saveListing(
  tx: Tx,
  accountId: string,
  listedAt: number,
  { inserted, updated }: { inserted: readonly BookRow[]; updated: readonly BookRow[] },
): Promise<void> {
  await insertRows(tx, 'contactBooks', inserted, 'on conflict ("accountId", "providerId") do nothing')
  for (const { id, providerId, name, isWritable, isDefault, updatedAt } of updated) {
    await bookStore(tx).update(id, { providerId, name, isWritable, isDefault, updatedAt })
  }
  await tx
    .insertInto('contactListings')
    .values({ accountId, listedAt })
    .onConflict((conflict) => conflict.column('accountId').doUpdateSet({ listedAt }))
    .execute()
}

/** Reads and writes the contacts of one address book. The methods that write need a `Tx`. */
export function contactStore(handle: Handle, bookId: string) {
  const rows = () => handle.selectFrom('contacts').selectAll().where('bookId', '=', bookId)
  return {
    byProviderIds: (ids: readonly string[]): Promise<Map<string, ContactRow>> =>
      inParts(ids, (some) => rows().where('providerId', 'in', some).execute()).then(
        (found) => new Map(found.map((row) => [row.providerId, row])),
      ),

    byUids: (uids: readonly string[]): Promise<ContactRow[]> =>
      inParts(uids, (some) => rows().where('uid', 'in', some).execute()),

    /** Up to `limit` rows that the present round has not found. */
    beforeRound: (round: number, limit: number): Promise<ContactRow[]> =>
      rows().where('round', '<', round).orderBy('round').orderBy('id').limit(limit).execute(),

    async update(id: string, changes: Partial<ContactRow>): Promise<void> {
      await handle.updateTable('contacts').set(changes).where('id', '=', id).execute()
    },

    /** For contacts that sync has found as they are stored. */
    async confirm(ids: readonly string[], round: number): Promise<void> {
      await inParts(ids, async (some) => {
        await handle
          .updateTable('contacts')
          .set((eb) => ({ confirmations: eb('confirmations', '+', 1), round }))
          .where('id', 'in', some)
          .execute()
        return []
      })
    },

    /** Contacts that the present round has found, but cannot read: they stay as they are. */
    async keep(providerIds: readonly string[], round: number): Promise<void> {
      await inParts(providerIds, async (some) => {
        await handle
          .updateTable('contacts')
          .set({ round })
          .where('bookId', '=', bookId)
          .where('providerId', 'in', some)
          .execute()
        return []
      })
    },

    async remove(ids: readonly string[]): Promise<void> {
      if (ids.length === 0) return
      await handle.deleteFrom('contactKeys').where('contactId', 'in', ids).execute()
      await handle.deleteFrom('contacts').where('id', 'in', ids).execute()
    },
  }
}

async function inParts<Row>(
  values: readonly string[],
  read: (some: readonly string[]) => Promise<Row[]>,
): Promise<Row[]> {
  const found: Row[] = []
  for (let start = 0; start < values.length; start += ROWS_PER_QUERY) {
    found.push(...(await read(values.slice(start, start + ROWS_PER_QUERY))))
  }
  return found
}

/** Deletes up to `limit` rows of a deleted account and returns how many. */
export async function eraseContacts(tx: Tx, accountId: string, limit: number): Promise<number> {
  const contacts = await tx
    .selectFrom('contacts')
    .select('id')
    .where('accountId', '=', accountId)
    .limit(limit)
    .execute()
  const ids = contacts.map(({ id }) => id)
  if (ids.length > 0) {
    await tx.deleteFrom('contactKeys').where('contactId', 'in', ids).execute()
    await tx.deleteFrom('contacts').where('id', 'in', ids).execute()
    return ids.length
  }
  const members = await tx
    .selectFrom('contactGroupMembers')
    .select(['groupId', 'bookId', 'memberUid'])
    .where('accountId', '=', accountId)
    .limit(limit)
    .execute()
  if (members.length > 0) {
    const groups = [...new Set(members.map(({ groupId }) => groupId))]
    const uids = [...new Set(members.map(({ memberUid }) => memberUid))]
    await tx
      .deleteFrom('contactGroupMembers')
      .where('groupId', 'in', groups)
      .where('memberUid', 'in', uids)
      .where('accountId', '=', accountId)
      .execute()
    return members.length
  }
  await tx.deleteFrom('contactGroups').where('accountId', '=', accountId).execute()
  await tx.deleteFrom('contactListings').where('accountId', '=', accountId).execute()
  const own = tx.selectFrom('contactBooks').select('id').where('accountId', '=', accountId)
  await tx.deleteFrom('unreadableContacts').where('bookId', 'in', own).execute()
  const { numDeletedRows } = await tx.deleteFrom('contactBooks').where('accountId', '=', accountId).executeTakeFirst()
  return Number(numDeletedRows)
}
