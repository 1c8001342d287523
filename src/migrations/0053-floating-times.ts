import { type Kysely, sql } from 'kysely'

/** Which stored times are wall clocks without a zone. Calendars without one are expanded anew by the next sync. */
export const name = '0053-floating-times'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [
    sql`alter table "calendarInstances" add column "isFloating" integer not null default 0`,
    sql`update "calendars" set "windowFrom" = "windowTo" where "timeZone" is null`,
  ])
    await statement.execute(db)
}
