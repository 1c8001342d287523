import { type RawBuilder, sql } from 'kysely'
import { DAY_MS } from '../../platform/calendar/days.ts'
import type { Handle } from '../../platform/db/index.ts'
import type { TimeRange } from '../../providers/contract/index.ts'
import { originalStartText } from '../api.ts'
import { type EventRow, eventStore } from '../store.ts'

/** The order of a list: `startTime` sorts by start, `updated` by the last change. */
export type EventOrder = 'startTime' | 'updated'

export interface StoredRange {
  calendarId: string
  range: TimeRange
  /** Each instance of a series; otherwise each series once. */
  isExpanded: boolean
  /** All of them must occur. */
  words: readonly string[]
  order: EventOrder
}

/** One line of a list: an event, or one instance of a series. */
export interface ListedRow
  extends Pick<
    EventRow,
    | 'id'
    | 'accountId'
    | 'calendarId'
    | 'providerId'
    | 'masterProviderId'
    | 'originalStart'
    | 'content'
    | 'version'
    | 'createdAt'
    | 'updatedAt'
  > {
  /** The instance as in its id; empty for events that are no series. */
  instance: string
  /** The time of an instance of a series. */
  startMs: number
  endMs: number
}

/** The order of a list: start or last change, then these ids. */
export type Position = readonly [key: number, eventId: string, instance: string]

interface RangePage {
  after?: Position | undefined
  offset: number
  limit: number
}

interface RangeRows {
  rows: ListedRow[]
  total: { count: number; capped: boolean }
}

/** A row of a list, before its event is read. */
interface Key {
  key: number
  eventId: string
  instance: string
  startMs: number
  endMs: number
}

const MAX_COUNT = 10_000
/** Longer ranges contain an instance of almost every series, so that a page sorted by last change is soon found. */
const SHORT_MS = 8 * DAY_MS
/** The limit for one statement that compares words, because it holds the event loop of the file store. */
const EVENTS_PER_STATEMENT = 500
const KEYS_PER_STATEMENT = 500

export function listPosition({ startMs, updatedAt, id, instance }: ListedRow, order: EventOrder): Position {
  return [order === 'startTime' ? startMs : updatedAt, id, instance]
}

export function byPosition(order: EventOrder): (left: ListedRow, right: ListedRow) => number {
  return (left, right) => compare(listPosition(left, order), listPosition(right, order))
}

export function isAfter(row: ListedRow, position: Position, order: EventOrder = 'startTime'): boolean {
  return compare(listPosition(row, order), position) > 0
}

function compare(left: Position, right: Position): number {
  for (const [index, value] of left.entries()) {
    const other = right[index] ?? ''
    if (value !== other) return value < other ? -1 : 1
  }
  return 0
}

/** Returns one page and the number of all rows. Without words each is one range of an index. */
export async function readRange(handle: Handle, stored: StoredRange, page: RangePage): Promise<RangeRows> {
  if (stored.words.length > 0) return readMatching(handle, stored, page)
  // Side by side: on PostgreSQL each takes a few milliseconds of another connection.
  const [rows, count] = await Promise.all([
    readKeys(handle, stored, page).then((keys) => readRows(handle, stored.calendarId, keys)),
    countRows(handle, stored),
  ])
  return { rows, total: toTotal(count) }
}

async function countRows(handle: Handle, stored: StoredRange): Promise<number> {
  const { rows } = await sql<{ count: number | string }>`select count(*) as "count" from (
      ${stored.isExpanded ? overlapping(stored.calendarId, stored.range, sql`1 as "one"`) : sql`select 1 ${eventsIn(stored)}`}
      limit ${sql.lit(MAX_COUNT + 1)}) as "counted"`.execute(handle)
  return Number(rows[0]?.count ?? 0)
}

/** First the events with the words, then their instances, in statements that each read a limited number of rows. */
async function readMatching(handle: Handle, stored: StoredRange, page: RangePage): Promise<RangeRows> {
  const ids = new Set<string>()
  for (let after: Position | undefined; ; ) {
    const events: (Key & { isMatch: number })[] = await readEvents(handle, stored, after)
    for (const { eventId, isMatch } of events) if (Number(isMatch) === 1) ids.add(eventId)
    const last = events.at(-1)
    if (last === undefined || events.length < EVENTS_PER_STATEMENT) break
    after = keyPosition(last)
  }
  const all = { after: undefined, skip: 0, most: MAX_COUNT + 1 }
  const keys = await readMatchingKeys(handle, stored, ids, { ...page, skip: page.offset, most: page.limit })
  const counted = await readMatchingKeys(handle, stored, ids, all)
  return { rows: await readRows(handle, stored.calendarId, keys), total: toTotal(counted.length) }
}

async function readMatchingKeys(
  handle: Handle,
  stored: StoredRange,
  ids: ReadonlySet<string>,
  { after, skip, most }: { after?: Position | undefined; skip: number; most: number },
): Promise<Key[]> {
  const found: Key[] = []
  for (let from = after; ids.size > 0 && found.length < skip + most; ) {
    const keys = await readKeys(handle, stored, { after: from, offset: 0, limit: KEYS_PER_STATEMENT })
    for (const key of keys) if (ids.has(key.eventId)) found.push(key)
    const last = keys.at(-1)
    if (last === undefined || keys.length < KEYS_PER_STATEMENT) break
    from = keyPosition(last)
  }
  return found.slice(skip, skip + most)
}

async function readKeys(handle: Handle, stored: StoredRange, page: RangePage): Promise<Key[]> {
  const { rows } = await sql<Key>`${keysIn(stored, page)} order by "key", "eventId", "instance"
    limit ${sql.lit(page.limit)} offset ${page.offset}`.execute(handle)
  return rows.map(numbered)
}

async function readEvents(handle: Handle, stored: StoredRange, after: Position | undefined) {
  const { calendarId, range, words } = stored
  // `replace` finds a word without wildcards on both engines.
  const each = words.map((word) => sql`replace("e"."searchText", ${word}, '') <> "e"."searchText"`)
  const { rows } = await sql<Key & { isMatch: number }>`select "e"."startMs" as "key", "e"."id" as "eventId",
      '' as "instance", case when ${sql.join(each, sql` and `)} then 1 else 0 end as "isMatch"
    ${eventsTouching(calendarId, range)} ${following(after, sql`"e"."startMs", "e"."id"`, 2)}
    order by "e"."startMs", "e"."id" limit ${sql.lit(EVENTS_PER_STATEMENT)}`.execute(handle)
  return rows.map((row) => ({ ...row, ...numbered(row) }))
}

async function readRows(handle: Handle, calendarId: string, keys: readonly Key[]): Promise<ListedRow[]> {
  const events = await eventStore(handle, calendarId).shownByIds([...new Set(keys.map(({ eventId }) => eventId))])
  return keys.flatMap(({ eventId, instance, startMs, endMs }) => {
    const row = events.get(eventId)
    return row === undefined ? [] : [{ ...row, instance, startMs, endMs }]
  })
}

function keysIn(stored: StoredRange, { after, offset, limit }: RangePage): RawBuilder<unknown> {
  const { calendarId, range, isExpanded, order } = stored
  const key = order === 'startTime' ? sql.ref('startMs') : sql.ref('updatedAt')
  if (!isExpanded) {
    return sql`select "e".${key} as "key", "e"."id" as "eventId", '' as "instance", "e"."startMs", 0 as "endMs"
      ${eventsIn(stored)} ${following(after, sql`"e".${key}, "e"."id"`, 2)}`
  }
  if (order === 'startTime') {
    const columns = sql`"startMs" as "key", "eventId", "originalStart" as "instance", "startMs", "endMs"`
    const position = sql`"startMs", "eventId", "originalStart"`
    // Each index range ends with the page, so that both engines merge them.
    const most = sql`order by ${position} limit ${offset + limit}`
    return overlapping(calendarId, range, columns, sql`${following(after, position, 3)} ${most}`)
  }
  const columns = sql`"e"."updatedAt" as "key", "e"."id" as "eventId", "i"."originalStart" as "instance",
    "i"."startMs", "i"."endMs"`
  const next = following(after, sql`"e"."updatedAt", "e"."id", "i"."originalStart"`, 3)
  if (range.to - range.from <= SHORT_MS) {
    const instances = overlapping(calendarId, range, sql`"eventId", "originalStart", "startMs", "endMs"`)
    return sql`select ${columns} from (${instances}) as "i" cross join "calendarEvents" as "e"
      where "e"."id" = "i"."eventId" ${next}`
  }
  return sql`select ${columns} ${eventsTouching(calendarId, range, sql`cross join "calendarInstances" as "i"`)}
    and "i"."eventId" = "e"."id" and "i"."startMs" < ${range.to} and "i"."endMs" > ${range.from}
    ${after === undefined ? sql`` : sql`and "e"."updatedAt" >= ${after[0]}`} ${next}`
}

/** Instances that end after the range begins and begin before it ends, as Google defines timeMin and timeMax. */
export function overlapping(
  calendarId: string,
  { from, to }: TimeRange,
  columns: RawBuilder<unknown>,
  condition = sql``,
): RawBuilder<unknown> {
  return sql`select * from (select ${columns} from "calendarInstances" where "calendarId" = ${calendarId}
      and "isLong" = 0 and "startMs" > ${from - DAY_MS - 1} and "startMs" < ${to} and "endMs" > ${from}
      ${condition}) as "short"
    union all
    select * from (select ${columns} from "calendarInstances" where "calendarId" = ${calendarId}
      and "isLong" = 1 and "startMs" < ${to} and "endMs" > ${from} ${condition}) as "long"`
}

/** Events with an instance in the range. */
function eventsIn({ calendarId, range }: StoredRange): RawBuilder<unknown> {
  const { from, to } = range
  // The original start of an instance is its start, in UTC or the zone of the calendar. For `exists` PostgreSQL would read all
  // instances into a hash table.
  const near = (ms: number, days: number) => originalStartText(ms + days * DAY_MS).slice(0, 8)
  const overlaps = sql`"startMs" < ${to} and "endMs" > ${from}`
  return sql`${eventsTouching(calendarId, range)} and ("e"."gapMs" < ${to - from} or "e"."firstMs" > ${from}
    or "e"."lastMs" < ${to}
    or (select 1 from "calendarInstances" where "eventId" = "e"."id"
      and "originalStart" > ${near(from, -3)} and "originalStart" < ${near(to, 3)} and ${overlaps} limit 1) = 1
    or "e"."id" in (select "eventId" from "calendarInstances" where "calendarId" = ${calendarId} and "isLong" = 1
      and ${overlaps}))`
}

/** Events between whose first and last instance the range is, at least in part. */
function eventsTouching(calendarId: string, { from, to }: TimeRange, join = sql``): RawBuilder<unknown> {
  return sql`from "calendarEvents" as "e" ${join} where "e"."calendarId" = ${calendarId}
    and "e"."firstMs" is not null and "e"."firstMs" < ${to} and "e"."lastMs" > ${from}`
}

function following(after: Position | undefined, columns: RawBuilder<unknown>, count: 2 | 3): RawBuilder<unknown> {
  if (after === undefined) return sql``
  return sql`and (${columns}) > (${sql.join(after.slice(0, count))})`
}

function keyPosition({ key, eventId, instance }: Key): Position {
  return [key, eventId, instance]
}

function numbered({ key, startMs, endMs, ...row }: Key): Key {
  return { ...row, key: Number(key), startMs: Number(startMs), endMs: Number(endMs) }
}

function toTotal(count: number): RangeRows['total'] {
  return { count: Math.min(count, MAX_COUNT), capped: count > MAX_COUNT }
}
