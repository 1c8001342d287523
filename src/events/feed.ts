import { type SelectQueryBuilder, type SqlBool, sql } from 'kysely'
import type { Handle, Tables } from '../infra/db/index.ts'
import type { EventRow } from './event.ts'

/** What of an event decides who hears of it. */
export type EventHead = Pick<EventRow, 'id' | 'type' | 'accountId'> & { position: number }

export interface EventFilter {
  type?: string | undefined
  accountId?: string | undefined
  /** Only events behind this position. */
  afterPosition?: number | undefined
  /** Only events recorded at this time or later. */
  sinceMs?: number | undefined
}

/** Events in the order of `position`: commits become visible in that order, so whoever reads on from the last one misses none. */
export interface EventFeed {
  /** Up to `limit` events behind `position`, without their data. */
  heads(position: number, limit: number): Promise<EventHead[]>
  list(
    filter: EventFilter,
    order: 'asc' | 'desc',
    page: { from: number | undefined; offset: number; limit: number },
  ): Promise<EventRow[]>
  /** Exact without a filter; with one, counting stops at `most` and answers one more. */
  count(filter: EventFilter, most: number): Promise<number>
  find(id: string): Promise<EventRow | undefined>
  lastPosition(): Promise<number>
  /** Where to begin so that no event recorded at this time or later is missed. */
  positionBefore(sinceMs: number): Promise<number>
}

/** Events of several replicas, whose clocks differ a little, do not lie in the order of their times. */
const NEIGHBOURS = 500

export function eventFeed(handle: Handle): EventFeed {
  return {
    async heads(position, limit) {
      const rows = await told(handle, {})
        .select(['id', 'type', 'accountId', 'position'])
        .where('position', '>', position)
        .orderBy('position')
        .limit(limit)
        .execute()
      return rows.map((row) => ({ ...row, position: row.position ?? 0 }))
    },

    list(filter, order, { from, offset, limit }) {
      let page = told(handle, filter).selectAll().orderBy('position', order)
      if (from !== undefined) page = page.where('position', order === 'asc' ? '>' : '<', from)
      return page.limit(limit).offset(offset).execute()
    },

    async count(filter, most) {
      if (Object.values(filter).every((part) => part === undefined)) return (await counter(handle)).total
      const some = told(handle, filter)
        .select('id')
        .limit(most + 1)
        .as('some')
      const { count } = await handle
        .selectFrom(some)
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow()
      return count
    },

    find: (id) => told(handle, {}).selectAll().where('id', '=', id).executeTakeFirst(),

    async lastPosition() {
      return (await counter(handle)).position
    },

    async positionBefore(sinceMs) {
      const first = handle
        .selectFrom('events')
        .select('position')
        .where('createdAt', '>=', sinceMs)
        .where('position', 'is not', null)
        .orderBy('createdAt')
        .orderBy('id')
        .limit(NEIGHBOURS)
        .as('first')
      const { position } = await handle
        .selectFrom(first)
        .select((eb) => eb.fn.min<number | null>('position').as('position'))
        .executeTakeFirstOrThrow()
      return position === null ? this.lastPosition() : position - 1
    },
  }
}

type Told = SelectQueryBuilder<Tables, 'events', unknown>

/** Events that have a position and may be told of. */
function told(handle: Handle, { type, accountId, afterPosition, sinceMs }: EventFilter): Told {
  // `position > 0` and not `is not null`: so every index that ends in the position serves.
  let events: Told = handle.selectFrom('events').where('position', '>', afterPosition ?? 0)
  // A calculation, lest an engine thinks of an index for it.
  events = events.where(sql<SqlBool>`"fanOut" + 0 >= 0`)
  if (type !== undefined) events = events.where('type', '=', type)
  if (accountId !== undefined) events = events.where('accountId', '=', accountId)
  if (sinceMs !== undefined) events = events.where(sql<SqlBool>`"createdAt" + 0 >= ${sinceMs}`)
  return events
}

function counter(handle: Handle) {
  return handle.selectFrom('eventPosition').select(['position', 'total']).where('id', '=', 1).executeTakeFirstOrThrow()
}
