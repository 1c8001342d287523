import { sql } from 'kysely'
import type { Dialect, Handle, Tx } from '../infra/db/index.ts'
import type { EventRow } from './event.ts'

/** How many of the next events, or exactly these. */
export type Which = number | readonly string[]

/**
 * Claims the next events that no fan-out has seen and stamps them with a global `position`, without gaps, in the order
 * they were recorded: by id, and within an account by sequence. Chosen by state, never by `id > last`: commits come out of
 * order. The position row's lock makes this one at a time; undefined means another replica is at it (and will not stop
 * before the queue of events is empty).
 */
export async function stampEvents(tx: Tx, dialect: Dialect, which: Which): Promise<EventRow[] | undefined> {
  const counter = await tx
    .selectFrom('eventPosition')
    .select('position')
    .where('id', '=', 1)
    .modifyEnd(dialect.skipLocked)
    .executeTakeFirst()
  if (counter === undefined) return undefined
  const stamped = await stampNext(tx, counter.position, which)
  if (stamped.length > 0) {
    const position = counter.position + stamped.length
    await tx
      .updateTable('eventPosition')
      .set((eb) => ({ position, total: eb('total', '+', stamped.length) }))
      .where('id', '=', 1)
      .execute()
  }
  return stamped
}

/** Waits for the fan-out that is under way, and keeps the next one from beginning until the transaction ends. */
export async function holdStamping(tx: Tx, dialect: Dialect): Promise<void> {
  await tx.selectFrom('eventPosition').select('id').where('id', '=', 1).modifyEnd(dialect.forUpdate).execute()
}

/** What `stampEvents` would stamp now, in that order, for whoever has to look at it before the transaction. */
export async function nextEvents(handle: Handle, limit: number): Promise<EventRow[]> {
  const { rows } = await sql<EventRow>`
    with ${placed(limit)}
    select ${COLUMNS} from "placed" join "events" on "events"."id" = "nextId" order by "place", "ownSequence"`.execute(
    handle,
  )
  return rows
}

/** One statement for the whole batch. */
export async function stampNext(handle: Handle, after: number, which: Which): Promise<EventRow[]> {
  const { rows } = await sql<EventRow>`
    with ${placed(which)},
    "numbered" as (
      select "nextId", row_number() over (order by "place", "ownSequence") as "number" from "placed")
    update "events" set "position" = cast(${after} as bigint) + "number"
    from "numbered" where "events"."id" = "numbered"."nextId"
    returning ${COLUMNS}`.execute(handle)
  return rows.sort((left, right) => (left.position ?? 0) - (right.position ?? 0))
}

/**
 * Ids of two replicas follow two clocks; an event's place is therefore the greatest id among its account's events up to it,
 * so that a later sequence never comes first.
 */
function placed(which: Which) {
  const chosen =
    typeof which === 'number'
      ? sql`"position" is null order by "id" limit ${which}`
      : sql`"position" is null and "id" in (${sql.join(which)})`
  return sql`
    "next" as (select "id" as "nextId", "accountId" as "owner", "sequence" as "ownSequence" from "events" where ${chosen}),
    "placed" as (
      select "nextId", "ownSequence",
        max("nextId") over (partition by coalesce("owner", "nextId") order by "ownSequence") as "place"
      from "next")`
}

const COLUMNS = sql`"id", "type", "accountId", "provider", "sequence", "objectId", "version", "data", "position", "fanOut",
  "createdAt"`
