import { sql } from 'kysely'
import type { Db } from '../../src/platform/db/index.ts'
import { systemClock } from '../../src/platform/time/clock.ts'
import { DATA } from '../sink.ts'

const DAY_MS = 86_400_000
const ROWS_PER_STATEMENT = 50_000
/** Ids have as many digits as the largest number. */
const FIRST = 1_000_000_000

export interface EventRows {
  count: number
  /** Letters in the ids, which are in the order of time: `00` is before those that the service generates, letters after `0` follow. */
  mark: string
  /** The age of the newest row; the others are spread over the day before. */
  ageDays: number
  /** The numbers of their positions in the order of all events begin after it. */
  afterPosition: number
  /** Default: a thousand accounts in turn. */
  accountId?: string
}

/** Stores events that were delivered at the first attempt, each with its delivery and attempt. */
export async function seedEvents(db: Db, { count, mark, ageDays, afterPosition, accountId }: EventRows): Promise<void> {
  const newestMs = systemClock.now() - ageDays * DAY_MS
  const account =
    accountId === undefined ? sql`'acc_bench' || cast("i" % 1000 as text)` : sql`cast(${accountId} as text)`
  const id = (prefix: string) => sql`${sql.lit(`${prefix}_${mark}`)} || cast(${sql.lit(FIRST)} + "i" as text)`
  const at = sql`cast(${newestMs} as bigint) - cast((${sql.lit(count)} - "i") * ${sql.lit(DAY_MS / count)} as bigint)`
  for (let done = 0; done < count; done += ROWS_PER_STATEMENT) {
    const last = Math.min(count, done + ROWS_PER_STATEMENT)
    const numbers = sql`with recursive "numbers" ("i") as
      (select cast(${sql.lit(done + 1)} as bigint) union all select "i" + 1 from "numbers" where "i" < ${sql.lit(last)})`
    await db.transaction(async (tx) => {
      await sql`insert into "events" ("id", "type", "accountId", "provider", "sequence", "objectId", "version", "data",
          "position", "fanOut", "createdAt")
        ${numbers} select ${id('evt')}, 'message.received', ${account}, 'imap', "i", ${id('msg')}, 1,
          cast(${JSON.stringify(DATA)} as text), ${sql.lit(afterPosition)} + "i", 1, ${at} from "numbers"`.execute(tx)
      await sql`insert into "webhookDeliveries" ("id", "endpointId", "eventId", "eventType", "accountId", "status",
          "trigger", "attempt", "maxAttempts", "url", "createdAt")
        ${numbers} select ${id('dlv')}, 'whe_bench', ${id('evt')}, 'message.received', ${account}, 'success',
          'event', 1, 5, 'http://127.0.0.1/', ${at} from "numbers"`.execute(tx)
      await sql`insert into "webhookAttempts" ("deliveryId", "attempt", "startedAt", "durationMs", "responseStatus",
          "signatures")
        ${numbers} select ${id('dlv')}, 1, ${at}, 12, 200, 1 from "numbers"`.execute(tx)
      const [total, position] = [sql.lit(last - done), sql.lit(afterPosition + last)]
      await sql`update "eventPosition" set "total" = "total" + ${total},
        "position" = case when "position" < ${position} then ${position} else "position" end`.execute(tx)
      await sql`update "webhookDeliveryCount" set "total" = "total" + ${total}`.execute(tx)
    })
  }
}

/** How many rows these tables have, and the totals that the service keeps of them. */
export async function countEvents(db: Db): Promise<{ rows: number[]; totals: number[] }> {
  const count = async (table: 'events' | 'webhookDeliveries' | 'webhookAttempts') =>
    Number(
      (
        await db.read
          .selectFrom(table)
          .select((eb) => eb.fn.countAll<number>().as('count'))
          .executeTakeFirstOrThrow()
      ).count,
    )
  const total = async (table: 'eventPosition' | 'webhookDeliveryCount') =>
    Number((await db.read.selectFrom(table).select('total').executeTakeFirstOrThrow()).total)
  return {
    rows: [await count('events'), await count('webhookDeliveries'), await count('webhookAttempts')],
    totals: [await total('eventPosition'), await total('webhookDeliveryCount')],
  }
}
