import { type SelectQueryBuilder, sql } from 'kysely'
import { countMatching, type Dialect, type Handle, insertRows, type Tables, type Tx } from '../../platform/db/index.ts'
import { notFound } from '../../platform/errors/app-error.ts'
import { buildPage, type Page, pageRequest } from '../../platform/formats/pagination.ts'
import type { BookingRow, HoldRow } from '../tables.ts'
import type { BookingQuery } from './api.ts'
import { bookedHosts } from './booking.ts'

interface BookingFilter extends Omit<BookingQuery, 'from' | 'to'> {
  fromMs: number | undefined
  toMs: number | undefined
}

/** Reads and writes bookings and holds. The methods that write need a `Tx`. */
export function bookingStore(handle: Handle) {
  const all = () => handle.selectFrom('bookings').selectAll()
  return {
    find: (id: string): Promise<BookingRow | undefined> => all().where('id', '=', id).executeTakeFirst(),

    async get(id: string): Promise<BookingRow> {
      const row = await all().where('id', '=', id).executeTakeFirst()
      if (row === undefined) throw notFound('booking', id)
      return row
    },

    /** The row, locked until the transaction ends. Throws not_found. */
    async lock(id: string, dialect: Dialect): Promise<BookingRow> {
      const row = await all().where('id', '=', id).modifyEnd(dialect.forUpdate).executeTakeFirst()
      if (row === undefined) throw notFound('booking', id)
      return row
    },

    byRequestKey: (requestKey: string): Promise<BookingRow | undefined> =>
      all().where('requestKey', '=', requestKey).executeTakeFirst(),

    async insert(row: BookingRow): Promise<void> {
      await handle.insertInto('bookings').values(row).execute()
    },

    /** Also counts the change. */
    update(row: BookingRow, changes: Partial<BookingRow>): Promise<BookingRow> {
      return handle
        .updateTable('bookings')
        .set({ ...changes, version: row.version + 1 })
        .where('id', '=', row.id)
        .returningAll()
        .executeTakeFirstOrThrow()
    },

    /** Stores the state of the booking's calendars, which is not a change of the booking. */
    async setCalendar(id: string, changes: Pick<BookingRow, 'calendarState' | 'calendarError'>): Promise<void> {
      await handle.updateTable('bookings').set(changes).where('id', '=', id).execute()
    },

    findHold: (id: string): Promise<HoldRow | undefined> =>
      handle.selectFrom('bookingHolds').selectAll().where('id', '=', id).executeTakeFirst(),

    async insertHold(row: HoldRow): Promise<void> {
      await handle.insertInto('bookingHolds').values(row).execute()
    },

    /** False when the hold no longer exists. */
    async removeHold(id: string): Promise<boolean> {
      const { numDeletedRows } = await handle.deleteFrom('bookingHolds').where('id', '=', id).executeTakeFirst()
      return numDeletedRows === 1n
    },

    /** By start. */
    async list(query: BookingFilter): Promise<Page<BookingRow>> {
      const { status, experienceSlug, accountId, guestEmail, fromMs, toMs, order = 'desc' } = query
      const filter = ['bookings', status, experienceSlug, accountId, guestEmail, fromMs, toMs, order]
      const request = pageRequest(query, filter, ['integer', 'text'])
      const matching = matched(handle, query)
      const [afterStart, afterId] = request.after ?? []
      // With a host, the index of the assignments has the order.
      const [start, id] =
        accountId === undefined
          ? [sql.ref('bookings.startMs'), sql.ref('bookings.id')]
          : [sql.ref('bookingAssignments.startMs'), sql.ref('bookingAssignments.bookingId')]
      const after = sql<boolean>`(${start}, ${id}) ${sql.raw(order === 'asc' ? '>' : '<')} (${afterStart ?? 0}, ${afterId ?? ''})`
      // An index has the ids: a page far behind does not read the rows before it.
      const found = await matching
        .select('bookings.id as id')
        .$if(afterId !== undefined, (page) => page.where(after))
        .orderBy(start, order)
        .orderBy(id, order)
        .limit(request.limit + 1)
        .offset(request.offset)
        .execute()
      const ids = found.map(({ id }) => id)
      const rows = ids.length === 0 ? [] : await all().where('id', 'in', ids).execute()
      rows.sort((left, right) => ids.indexOf(left.id) - ids.indexOf(right.id))
      return buildPage(
        rows,
        request,
        await countMatching(handle, matching.select('bookings.id as id')),
        filter,
        (row) => [row.startMs, row.id],
      )
    },
  }
}

type Matching = SelectQueryBuilder<Tables, 'bookings', unknown>

function matched(handle: Handle, query: BookingFilter): Matching {
  const { status, experienceSlug, accountId, guestEmail, fromMs, toMs } = query
  let matching: Matching = handle
    .selectFrom('bookings')
    .$if(accountId !== undefined, (bookings) =>
      bookings.innerJoin('bookingAssignments', (join) =>
        join.onRef('bookingId', '=', 'bookings.id').on('hostId', '=', accountId ?? ''),
      ),
    )
  if (status !== undefined) matching = matching.where('status', '=', status)
  if (guestEmail !== undefined) matching = matching.where('guestEmail', '=', guestEmail.trim().toLowerCase())
  if (fromMs !== undefined) matching = matching.where('bookings.startMs', '>=', fromMs)
  if (toMs !== undefined) matching = matching.where('bookings.startMs', '<', toMs)
  if (experienceSlug !== undefined) {
    const named = handle.selectFrom('experiences').select('id').where('slug', '=', experienceSlug)
    matching = matching.where('experienceId', '=', named)
  }
  return matching
}

/** Stores for whom the booking is listed. */
export async function assignHosts(tx: Tx, row: BookingRow): Promise<void> {
  await tx.deleteFrom('bookingAssignments').where('bookingId', '=', row.id).execute()
  const rows = bookedHosts(row).map((hostId) => ({ bookingId: row.id, hostId, startMs: row.startMs }))
  await insertRows(tx, 'bookingAssignments', rows)
}

/** Deletes up to `limit` bookings and holds that ended before `beforeMs` and returns how many. */
export async function purgeBookings(tx: Tx, beforeMs: number, limit: number): Promise<number> {
  const old = await tx
    .selectFrom('bookings')
    .select('id')
    .where('startMs', '<', beforeMs)
    .where('endMs', '<', beforeMs)
    .orderBy('startMs')
    .orderBy('id')
    .limit(limit)
    .execute()
  await remove(
    tx,
    old.map(({ id }) => id),
  )
  return old.length
}

/** Deletes up to `limit` expired holds and returns how many. */
export async function purgeHolds(tx: Tx, beforeMs: number, limit: number): Promise<number> {
  const old = await tx.selectFrom('bookingHolds').select('id').where('expiresAt', '<', beforeMs).limit(limit).execute()
  const ids = old.map(({ id }) => id)
  if (ids.length === 0) return 0
  await tx.deleteFrom('bookingBlocks').where('ownerId', 'in', ids).execute()
  await tx.deleteFrom('bookingHolds').where('id', 'in', ids).execute()
  return ids.length
}

/**
 * Deletes up to `limit` bookings of a deleted account and returns how many. A booking with other hosts belongs to them too: it stays
 * without this one.
 */
export async function eraseBookings(tx: Tx, accountId: string, limit: number): Promise<number> {
  const assigned = await tx
    .selectFrom('bookingAssignments')
    .innerJoin('bookings', 'bookings.id', 'bookingAssignments.bookingId')
    .selectAll('bookings')
    .where('bookingAssignments.hostId', '=', accountId)
    .limit(limit)
    .execute()
  const own = assigned.filter((row) => bookedHosts(row).every((hostId) => hostId === accountId))
  await remove(
    tx,
    own.map(({ id }) => id),
  )
  for (const row of assigned) {
    if (own.includes(row)) continue
    const hosts = bookedHosts(row).filter((hostId) => hostId !== accountId)
    const slot = JSON.parse(row.slot)
    const participants = slot.participants.filter((participant: unknown) => participant !== accountId)
    await tx
      .updateTable('bookings')
      .set({ hosts: JSON.stringify(hosts), slot: JSON.stringify({ ...slot, hosts, participants }) })
      .where('id', '=', row.id)
      .execute()
  }
  const done = assigned.map(({ id }) => id)
  if (done.length > 0) {
    await tx.deleteFrom('bookingAssignments').where('hostId', '=', accountId).where('bookingId', 'in', done).execute()
  }
  if (assigned.length < limit) {
    for (const table of ['bookingEvents', 'bookingBlocks', 'bookingHosts'] as const) {
      await tx.deleteFrom(table).where('hostId', '=', accountId).execute()
    }
  }
  return assigned.length
}

async function remove(tx: Tx, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return
  await tx.deleteFrom('bookingBlocks').where('ownerId', 'in', ids).execute()
  for (const table of ['bookingTasks', 'bookingEvents', 'bookingAssignments'] as const) {
    await tx.deleteFrom(table).where('bookingId', 'in', ids).execute()
  }
  await tx.deleteFrom('bookings').where('id', 'in', ids).execute()
}
