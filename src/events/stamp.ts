import { sql } from 'kysely'
import { compiledOnce, type Dialect, type Handle, type Tx } from '../platform/db/index.ts'
import type { EventRow } from './event.ts'

/** The number of events to stamp, or exactly the events with these ids. */
export type Which = number | readonly string[]

/**
 * Assigns the next events a global `position`, without gaps, in the order in which they were recorded: by id, and within an
 * account by sequence. Selects events by state, never by `id > last`, because commits do not follow the order of ids.
 * The lock on the position row lets one replica run at a time. Returns undefined when another replica holds it; that replica
 * continues until no event is left.
 */
export async function stampEvents(tx: Tx, dialect: Dialect, which: Which): Promise<EventRow[] | undefined> {
  const counter = await lockPosition(tx, dialect)
  if (counter === undefined) return undefined
  const stamped = await stampNext(tx, counter.position, which)
  if (stamped.length > 0) {
    const position = counter.position + stamped.length
    await movePosition(tx, position, stamped.length)
  }
  return stamped
}

function lockPosition(handle: Handle, dialect: Dialect): Promise<{ position: number } | undefined> {
  return handle
    .selectFrom('eventPosition')
    .select('position')
    .where('id', '=', 1)
    .modifyEnd(dialect.skipLocked)
    .executeTakeFirst()
}

const movePosition = compiledOnce((handle, position: number, stamped: number) =>
  handle
    .updateTable('eventPosition')
    .set((eb) => ({ position, total: eb('total', '+', stamped) }))
    .where('id', '=', 1),
)

/** True while another replica, or `holdStamping`, has the lock that `stampEvents` needs. */
export async function isStampingElsewhere(handle: Handle, dialect: Dialect): Promise<boolean> {
  return (await lockPosition(handle, dialect)) === undefined
}

/** Waits for a running fan-out and blocks the next one until the transaction ends. */
export async function holdStamping(tx: Tx, dialect: Dialect): Promise<void> {
  await tx.selectFrom('eventPosition').select('id').where('id', '=', 1).modifyEnd(dialect.forUpdate).execute()
}

/** The events that `stampEvents` would stamp now, in that order, for callers that read them before their transaction. */
export async function nextEvents(handle: Handle, limit: number): Promise<EventRow[]> {
  const { rows } = await sql<EventRow>`
    with ${sortKeys(limit)}
    select ${COLUMNS} from "sorted" join "events" on "events"."id" = "nextId" order by "sortKey", "ownSequence"`.execute(
    handle,
  )
  return rows
}

export async function stampNext(handle: Handle, after: number, which: Which): Promise<EventRow[]> {
  const { rows } = await sql<EventRow>`
    with ${sortKeys(which)},
    "numbered" as (
      select "nextId", row_number() over (order by "sortKey", "ownSequence") as "number" from "sorted")
    update "events" set "position" = cast(${after} as bigint) + "number"
    from "numbered" where "events"."id" = "numbered"."nextId"
    returning ${COLUMNS}`.execute(handle)
  return rows.sort((left, right) => (left.position ?? 0) - (right.position ?? 0))
}

/**
 * The ids of two replicas follow two clocks. Events are therefore sorted by the greatest id among the account's events up to
 * each one, so that a later sequence number never comes first.
 */
function sortKeys(which: Which) {
  const chosen =
    typeof which === 'number'
      ? sql`"position" is null order by "id" limit ${which}`
      : sql`"position" is null and "id" in (${sql.join(which)})`
  return sql`
    "next" as (select "id" as "nextId", "accountId" as "owner", "sequence" as "ownSequence" from "events" where ${chosen}),
    "sorted" as (
      select "nextId", "ownSequence",
        max("nextId") over (partition by coalesce("owner", "nextId") order by "ownSequence") as "sortKey"
      from "next")`
}

const COLUMNS = sql`"id", "type", "accountId", "provider", "sequence", "objectId", "version", "data", "position", "fanOut",
  "createdAt"`
