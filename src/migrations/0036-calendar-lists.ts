import { type Kysely, sql } from 'kysely'

/** When an event takes place within the window, so that lists are ranges of one index. Computed anew by the next sync. */
export const name = '0036-calendar-lists'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [
    sql`alter table "calendarEvents" add column "startMs" bigint not null default 0`,
    sql`alter table "calendarEvents" add column "firstMs" bigint`,
    sql`alter table "calendarEvents" add column "lastMs" bigint`,
    sql`create index "calendarEvents_start" on "calendarEvents"
      ("calendarId", "startMs", "id", "firstMs", "lastMs", "isSeries") where "firstMs" is not null`,
    sql`create index "calendarEvents_updated" on "calendarEvents"
      ("calendarId", "updatedAt", "id", "firstMs", "lastMs", "isSeries") where "firstMs" is not null`,
    sql`create index "calendarEvents_round" on "calendarEvents" ("calendarId", "round", "id")`,
    sql`drop index "calendarInstances_start"`,
    sql`drop index "calendarInstances_end"`,
    sql`create index "calendarInstances_start" on "calendarInstances"
      ("calendarId", "isLong", "startMs", "eventId", "originalStart", "endMs", "isBusy")`,
    sql`update "calendars" set "windowFrom" = "windowTo"`,
  ])
    await statement.execute(db)
}
