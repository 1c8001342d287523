import { type Kysely, sql } from 'kysely'

/** The longest time between two instances of an event, in the indexes of its lists. Computed anew by the next sync. */
export const name = '0038-calendar-gaps'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [
    sql`alter table "calendarEvents" add column "gapMs" bigint not null default -1`,
    sql`drop index "calendarEvents_start"`,
    sql`drop index "calendarEvents_updated"`,
    sql`create index "calendarEvents_start" on "calendarEvents"
      ("calendarId", "startMs", "id", "firstMs", "lastMs", "gapMs") where "firstMs" is not null`,
    sql`create index "calendarEvents_updated" on "calendarEvents"
      ("calendarId", "updatedAt", "id", "firstMs", "lastMs", "gapMs") where "firstMs" is not null`,
    sql`update "calendars" set "windowFrom" = "windowTo"`,
  ])
    await statement.execute(db)
}
