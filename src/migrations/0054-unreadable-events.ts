import { type Kysely, sql } from 'kysely'

/** What calendars contain and could not be read. Known from the next change of each event, or full listing, on. */
export const name = '0054-unreadable-events'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [
    sql`alter table "calendars" add column "unreadable" integer not null default 0`,
    sql`create table "unreadableEvents" (
      "calendarId" text not null,
      "providerId" text not null,
      "reason" text not null,
      "round" integer not null,
      "foundAt" bigint not null,
      primary key ("calendarId", "providerId")
    )`,
  ])
    await statement.execute(db)
}
