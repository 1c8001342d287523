import type { Selectable } from 'kysely'
import { type Handle, insertManyRows, insertRows, type Tables, type Tx } from '../platform/db/index.ts'

export type CalendarRow = Selectable<Tables['calendars']>
export type EventRow = Selectable<Tables['calendarEvents']>
export type InstanceRow = Selectable<Tables['calendarInstances']>

/** When an event takes place: the columns of its row, and its instances in the window. */
export interface Placement extends Pick<EventRow, 'startMs' | 'firstMs' | 'lastMs' | 'gapMs'> {
  instances: readonly InstanceRow[]
}

const ROWS_PER_QUERY = 500
/** The columns that the JSON of an event needs. */
const SHOWN = [
  ...(['id', 'accountId', 'calendarId', 'providerId', 'masterProviderId', 'originalStart'] as const),
  ...(['content', 'version', 'createdAt', 'updatedAt'] as const),
] as const

/** Reads and writes calendars. The methods that write need a `Tx`. */
export function calendarStore(handle: Handle) {
  return {
    /** The primary one first, then by name. */
    all(accountId: string): Promise<CalendarRow[]> {
      return handle
        .selectFrom('calendars')
        .selectAll()
        .where('accountId', '=', accountId)
        .orderBy('isPrimary', 'desc')
        .orderBy('summary')
        .orderBy('id')
        .execute()
    },

    /** By our id, the provider's id, or `primary`. */
    async find(accountId: string, idOrProviderId: string): Promise<CalendarRow | undefined> {
      const rows = await handle
        .selectFrom('calendars')
        .selectAll()
        .where('accountId', '=', accountId)
        .where((eb) =>
          eb.or([
            eb('id', '=', idOrProviderId),
            eb('providerId', '=', idOrProviderId),
            ...(idOrProviderId === 'primary' ? [eb('isPrimary', '=', 1)] : []),
          ]),
        )
        .execute()
      return rows.find((row) => row.id === idOrProviderId) ?? rows[0]
    },

    async get(id: string): Promise<CalendarRow | undefined> {
      return handle.selectFrom('calendars').selectAll().where('id', '=', id).executeTakeFirst()
    },

    async update(id: string, changes: Partial<CalendarRow>): Promise<void> {
      await handle.updateTable('calendars').set(changes).where('id', '=', id).execute()
    },

    async listedAt(accountId: string): Promise<number | undefined> {
      const row = await handle
        .selectFrom('calendarListings')
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

/** Stores what a listing returned. Known calendars keep their ids. */
export async function saveListing(
  tx: Tx,
  accountId: string,
  listedAt: number,
  changes: { inserted: readonly CalendarRow[]; updated: readonly CalendarRow[] },
): Promise<void> {
  await insertRows(tx, 'calendars', changes.inserted, 'on conflict ("accountId", "providerId") do nothing')
  for (const { id, ...row } of changes.updated) await calendarStore(tx).update(id, row)
  await tx
    .insertInto('calendarListings')
    .values({ accountId, listedAt })
    .onConflict((conflict) => conflict.column('accountId').doUpdateSet({ listedAt }))
    .execute()
}

/** Reads and writes the events of one calendar and their instances. The methods that write need a `Tx`. */
export function eventStore(handle: Handle, calendarId: string) {
  const rows = () => handle.selectFrom('calendarEvents').selectAll().where('calendarId', '=', calendarId)
  return {
    async byProviderIds(ids: readonly string[]): Promise<Map<string, EventRow>> {
      const found = new Map<string, EventRow>()
      for (let start = 0; start < ids.length; start += ROWS_PER_QUERY) {
        const some = await rows()
          .where('providerId', 'in', ids.slice(start, start + ROWS_PER_QUERY))
          .execute()
        for (const row of some) found.set(row.providerId, row)
      }
      return found
    },

    /** Only what lists show: the drivers' cost is per value. */
    async shownByIds(ids: readonly string[]): Promise<Map<string, Pick<EventRow, (typeof SHOWN)[number]>>> {
      if (ids.length === 0) return new Map()
      const found = await handle
        .selectFrom('calendarEvents')
        .select(SHOWN)
        .where('calendarId', '=', calendarId)
        .where('id', 'in', ids)
        .execute()
      return new Map(found.map((row) => [row.id, row]))
    },

    find: (id: string): Promise<EventRow | undefined> =>
      rows()
        .where((eb) => eb.or([eb('id', '=', id), eb('providerId', '=', id)]))
        .executeTakeFirst(),

    async hasEvents(): Promise<boolean> {
      const row = await handle
        .selectFrom('calendarEvents')
        .select('id')
        .where('calendarId', '=', calendarId)
        .limit(1)
        .executeTakeFirst()
      return row !== undefined
    },

    async hasInstances(id: string): Promise<boolean> {
      const row = await handle
        .selectFrom('calendarInstances')
        .select('startMs')
        .where('eventId', '=', id)
        .limit(1)
        .executeTakeFirst()
      return row !== undefined
    },

    /** The provider ids, among these, of masters that have stored exceptions. */
    async mastersWithExceptions(providerIds: readonly string[]): Promise<Set<string | null>> {
      const found = new Set<string | null>()
      for (let start = 0; start < providerIds.length; start += ROWS_PER_QUERY) {
        const some = await handle
          .selectFrom('calendarEvents')
          .select('masterProviderId')
          .distinct()
          .where('calendarId', '=', calendarId)
          .where('masterProviderId', 'in', providerIds.slice(start, start + ROWS_PER_QUERY))
          .execute()
        for (const { masterProviderId } of some) found.add(masterProviderId)
      }
      return found
    },

    findExceptions: (masterProviderId: string): Promise<EventRow[]> =>
      rows().where('masterProviderId', '=', masterProviderId).execute(),

    /** Up to `limit` rows that the present round has not found. */
    beforeRound: (round: number, limit: number): Promise<EventRow[]> =>
      rows().where('round', '<', round).orderBy('round').orderBy('id').limit(limit).execute(),

    /** In pages by the provider's id. */
    after: (providerId: string, limit: number): Promise<EventRow[]> =>
      rows().where('providerId', '>', providerId).orderBy('providerId').limit(limit).execute(),

    async insert(row: EventRow): Promise<void> {
      await handle.insertInto('calendarEvents').values(row).execute()
    },

    async update(id: string, changes: Partial<EventRow>): Promise<void> {
      await handle.updateTable('calendarEvents').set(changes).where('id', '=', id).execute()
    },

    /** For events that sync has found as they are stored. */
    async confirm(ids: readonly string[]): Promise<void> {
      if (ids.length === 0) return
      await handle
        .updateTable('calendarEvents')
        .set((eb) => ({ confirmations: eb('confirmations', '+', 1) }))
        .where('id', 'in', ids)
        .execute()
    },

    /** Events that the present round has found, but cannot read: they stay as they are. */
    async keep(providerIds: readonly string[], round: number): Promise<void> {
      for (let start = 0; start < providerIds.length; start += ROWS_PER_QUERY) {
        const some = providerIds.slice(start, start + ROWS_PER_QUERY)
        await handle
          .updateTable('calendarEvents')
          .set({ round })
          .where('calendarId', '=', calendarId)
          .where((eb) => eb.or([eb('providerId', 'in', some), eb('masterProviderId', 'in', some)]))
          .execute()
      }
    },

    async remove(ids: readonly string[]): Promise<void> {
      if (ids.length === 0) return
      await handle.deleteFrom('calendarInstances').where('eventId', 'in', ids).execute()
      await handle.deleteFrom('calendarEvents').where('id', 'in', ids).execute()
    },
  }
}

export type EventStore = ReturnType<typeof eventStore>

/** Stores when an event takes place. */
export async function placeEvent(tx: Tx, eventId: string, { instances, ...columns }: Placement): Promise<void> {
  await tx.updateTable('calendarEvents').set(columns).where('id', '=', eventId).execute()
  await tx.deleteFrom('calendarInstances').where('eventId', '=', eventId).execute()
  await insertManyRows(tx, 'calendarInstances', instances)
}

/** Without those of events that were deleted, or changed through the API after the number `readAfter`. */
export async function currentInstances(
  handle: Handle,
  instances: readonly InstanceRow[],
  readAfter: number,
): Promise<InstanceRow[]> {
  const ids = [...new Set(instances.map(({ eventId }) => eventId))]
  const current = new Set<string>()
  for (let start = 0; start < ids.length; start += ROWS_PER_QUERY) {
    const rows = await handle
      .selectFrom('calendarEvents')
      .select('id')
      .where('id', 'in', ids.slice(start, start + ROWS_PER_QUERY))
      .where('apiChange', '<=', readAfter)
      .execute()
    for (const { id } of rows) current.add(id)
  }
  return instances.filter(({ eventId }) => current.has(eventId))
}

/** Deletes up to `limit` rows of a deleted account and returns how many. */
export async function eraseCalendars(tx: Tx, accountId: string, limit: number): Promise<number> {
  const events = await tx
    .selectFrom('calendarEvents')
    .select('id')
    .where('accountId', '=', accountId)
    .limit(limit)
    .execute()
  const ids = events.map(({ id }) => id)
  if (ids.length > 0) {
    await tx.deleteFrom('calendarInstances').where('eventId', 'in', ids).execute()
    await tx.deleteFrom('calendarEvents').where('id', 'in', ids).execute()
    return ids.length
  }
  await tx.deleteFrom('calendarListings').where('accountId', '=', accountId).execute()
  await tx.deleteFrom('calendarSubscriptions').where('accountId', '=', accountId).execute()
  const own = tx.selectFrom('calendars').select('id').where('accountId', '=', accountId)
  await tx.deleteFrom('unreadableEvents').where('calendarId', 'in', own).execute()
  const { numDeletedRows } = await tx.deleteFrom('calendars').where('accountId', '=', accountId).executeTakeFirst()
  return Number(numDeletedRows)
}
