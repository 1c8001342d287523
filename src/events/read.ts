import { type SelectQueryBuilder, type SqlBool, sql } from 'kysely'
import { type Handle, padded, type Tables } from '../platform/db/index.ts'
import type { EventRow } from './event.ts'

/** The part of an event that decides who receives it. */
export type EventHead = Pick<EventRow, 'id' | 'type' | 'accountId'> & { position: number }

export interface EventFilter {
  type?: string | undefined
  accountId?: string | undefined
  /** Only events after this position. */
  afterPosition?: number | undefined
  /** Only events recorded at this time or later. */
  sinceMs?: number | undefined
}

/**
 * Events in the order of `position`. Commits become visible in that order, so a reader that continues after the last position it
 * has seen misses no event.
 */
interface EventFeed {
  /** Up to `limit` events after `position`, without their data. */
  heads(position: number, limit: number): Promise<EventHead[]>
  list(
    filter: EventFilter,
    order: 'asc' | 'desc',
    page: { from: number | undefined; offset: number; limit: number },
  ): Promise<EventRow[]>
  /** Exact without a filter. With a filter, counting stops at `most`, and the result is then `most + 1`. */
  count(filter: EventFilter, most: number): Promise<number>
  find(id: string): Promise<EventRow | undefined>
  lastPosition(): Promise<number>
  /** A position from which a reader misses no event recorded at this time or later. */
  positionBefore(sinceMs: number): Promise<number>
}

/** The clocks of replicas differ a little, so positions do not strictly follow times. */
const MAX_OUT_OF_ORDER = 500

export function eventFeed(handle: Handle): EventFeed {
  return {
    async heads(position, limit) {
      const rows = await visibleEvents(handle, {})
        .select(['id', 'type', 'accountId', 'position'])
        .where('position', '>', position)
        .orderBy('position')
        .limit(limit)
        .execute()
      return rows.map((row) => ({ ...row, position: row.position ?? 0 }))
    },

    list(filter, order, { from, offset, limit }) {
      let page = visibleEvents(handle, filter).selectAll().orderBy('position', order)
      if (from !== undefined) page = page.where('position', order === 'asc' ? '>' : '<', from)
      return page.limit(limit).offset(offset).execute()
    },

    async count(filter, most) {
      if (Object.values(filter).every((part) => part === undefined)) return (await counter(handle)).total
      const counted = visibleEvents(handle, filter)
        .select('id')
        .limit(most + 1)
        .as('counted')
      const { count } = await handle
        .selectFrom(counted)
        .select((eb) => eb.fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow()
      return count
    },

    find: (id) => visibleEvents(handle, {}).selectAll().where('id', '=', id).executeTakeFirst(),

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
        .limit(MAX_OUT_OF_ORDER)
        .as('first')
      const { position } = await handle
        .selectFrom(first)
        .select((eb) => eb.fn.min<number | null>('position').as('position'))
        .executeTakeFirstOrThrow()
      return position === null ? this.lastPosition() : position - 1
    },
  }
}

/** Events that have a position and are not withheld. */
function visibleEvents(
  handle: Handle,
  { type, accountId, afterPosition, sinceMs }: EventFilter,
): SelectQueryBuilder<Tables, 'events', unknown> {
  // `position > 0` instead of `is not null` lets every index that ends in the position serve the query.
  let events: SelectQueryBuilder<Tables, 'events', unknown> = handle
    .selectFrom('events')
    .where('position', '>', afterPosition ?? 0)
  // The `+ 0` keeps the planner from choosing an index on this column.
  events = events.where(sql<SqlBool>`"fanOut" + 0 >= 0`)
  if (type !== undefined) events = events.where('type', '=', type)
  if (accountId !== undefined) events = events.where('accountId', '=', accountId)
  if (sinceMs !== undefined) events = events.where(sql<SqlBool>`"createdAt" + 0 >= ${sinceMs}`)
  return events
}

function counter(handle: Handle) {
  return handle.selectFrom('eventPosition').select(['position', 'total']).where('id', '=', 1).executeTakeFirstOrThrow()
}

/** Events by id. Deleted events are missing from the map. */
export async function findEvents(handle: Handle, ids: readonly string[]): Promise<Map<string, EventRow>> {
  if (ids.length === 0) return new Map()
  const rows = await handle.selectFrom('events').selectAll().where('id', 'in', padded(ids)).execute()
  return new Map(rows.map((row) => [row.id, row]))
}

/** Events recorded from `sinceMs` on and before `untilMs`, after the event `after` when it is given. */
export interface EventRange {
  sinceMs: number
  untilMs: number
  after: { createdAt: number; id: string } | undefined
}

/** Up to `limit` events of the range that the fan-out has processed, oldest first, without their data. */
export function listFannedOut(
  handle: Handle,
  range: EventRange,
  limit: number,
): Promise<Pick<EventRow, 'id' | 'type' | 'accountId' | 'createdAt'>[]> {
  const { createdAt, id } = range.after ?? { createdAt: range.sinceMs, id: '' }
  return handle
    .selectFrom('events')
    .select(['id', 'type', 'accountId', 'createdAt'])
    .where(sql<SqlBool>`("createdAt", "id") > (${createdAt}, ${id})`)
    .where('createdAt', '<', range.untilMs)
    .where('position', 'is not', null)
    .where('fanOut', '=', 1)
    .orderBy('createdAt')
    .orderBy('id')
    .limit(limit)
    .execute()
}
