import { type Kysely, sql } from 'kysely'
import type { Db } from '../platform/db/index.ts'

/** Adds counts for each hour, which the overview of the portal shows. */
export const name = '0009-activity'

export async function up(db: Kysely<unknown>, engine: Db['engine']): Promise<void> {
  const withoutRowid = engine === 'sqlite' ? sql`without rowid` : sql``
  for (const statement of [
    // How often something happened in an hour (its start): messages, bookings, the ends of deliveries, and how long those
    // took. Each instance adds its counts every few seconds. Rows are deleted after 35 days.
    sql`create table "activityCounts" (
      "hour" bigint not null,
      "name" text not null,
      "amount" bigint not null,
      primary key ("hour", "name")) ${withoutRowid}`,

    // The overview counts calendars that cannot be read.
    sql`create index "calendars_failures_partial" on "calendars" ("id") where "failures" > 0`,
  ]) {
    await statement.execute(db)
  }
}
