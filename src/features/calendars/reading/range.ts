import { type RawBuilder, sql } from 'kysely'
import type { Handle } from '../../../infra/db/index.ts'
import type { TimeRange } from '../../../providers/contract/index.ts'
import type { EventRow } from '../store.ts'

/** What a list shows: `startTime` sorts by start, `updated` by the last change. */
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
  /** Of the instance: as in its id, empty for events that are no series. */
  instance: string
  startMs: number
  endMs: number
}

const DAY_MS = 24 * 60 * 60 * 1000
const MAX_COUNT = 10_000

/** Returns the rows after `after` in order; up to `limit`. */
export async function readRange(
  handle: Handle,
  stored: StoredRange,
  { after, offset, limit }: { after?: readonly [number, string, string] | undefined; offset: number; limit: number },
): Promise<ListedRow[]> {
  const key = stored.order === 'startTime' ? sql`"i"."startMs"` : sql`"e"."updatedAt"`
  const from =
    after === undefined
      ? sql``
      : sql`and (${key}, "i"."eventId", "i"."originalStart") > (${after[0]}, ${after[1]}, ${after[2]})`
  const { rows } = await sql<ListedRow>`select "e"."id", "e"."accountId", "e"."calendarId", "e"."providerId",
      "e"."masterProviderId", "e"."originalStart", "e"."content", "e"."version", "e"."createdAt", "e"."updatedAt",
      "i"."originalStart" as "instance", "i"."startMs", "i"."endMs"
    from (${instancesIn(stored)}) as "i" join "calendarEvents" as "e" on "e"."id" = "i"."eventId"
    where 1 = 1 ${matching(stored)} ${from}
    order by ${key}, "i"."eventId", "i"."originalStart" limit ${sql.lit(limit)} offset ${offset}`.execute(handle)
  return rows.map((row) => ({
    ...row,
    ...{ startMs: Number(row.startMs), endMs: Number(row.endMs), version: Number(row.version) },
    ...{ createdAt: Number(row.createdAt), updatedAt: Number(row.updatedAt) },
  }))
}

export async function countRange(handle: Handle, stored: StoredRange): Promise<{ count: number; capped: boolean }> {
  const { rows } = await sql<{ count: number | string }>`select count(*) as "count" from (
      select 1 from (${instancesIn(stored)}) as "i" join "calendarEvents" as "e" on "e"."id" = "i"."eventId"
      where 1 = 1 ${matching(stored)} limit ${sql.lit(MAX_COUNT + 1)}) as "counted"`.execute(handle)
  const count = Number(rows[0]?.count ?? 0)
  return { count: Math.min(count, MAX_COUNT), capped: count > MAX_COUNT }
}

function instancesIn({ calendarId, range, isExpanded }: StoredRange): RawBuilder<unknown> {
  const all = overlapping(calendarId, range, sql`"eventId", "originalStart", "startMs", "endMs"`)
  if (isExpanded) return all
  return sql`select "eventId", '' as "originalStart", min("startMs") as "startMs", min("endMs") as "endMs"
    from (${all}) as "every" group by "eventId"`
}

/** Instances that end after the range begins and begin before it ends, as Google defines timeMin and timeMax. */
export function overlapping(
  calendarId: string,
  { from, to }: TimeRange,
  columns: RawBuilder<unknown>,
  condition = sql``,
): RawBuilder<unknown> {
  return sql`select ${columns} from "calendarInstances" where "calendarId" = ${calendarId} and "isLong" = 0
      and "startMs" > ${from - DAY_MS - 1} and "startMs" < ${to} and "endMs" > ${from} ${condition}
    union all
    select ${columns} from "calendarInstances" where "calendarId" = ${calendarId} and "isLong" = 1
      and "endMs" > ${from} and "startMs" < ${to} ${condition}`
}

/** `replace` finds a word without wildcards on both engines. */
function matching({ words }: StoredRange): RawBuilder<unknown> {
  if (words.length === 0) return sql``
  const each = words.map((word) => sql`replace("e"."searchText", ${word}, '') <> "e"."searchText"`)
  return sql`and ${sql.join(each, sql` and `)}`
}
