import { type Kysely, sql } from 'kysely'

/** The numbers of changes through the API, by which sync finds out that what it read is older. */
export const name = '0033-calendar-changes'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table "calendarEvents" add column "apiChange" bigint not null default 0`.execute(db)
  await sql`alter table "calendars" add column "apiDeletion" bigint not null default 0`.execute(db)
}
