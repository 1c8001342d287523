import { type Kysely, sql } from 'kysely'

/** Calendars that cannot be read wait by themselves, also after a restart. */
export const name = '0059-failing-calendars'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [
    sql`alter table "calendars" add column "failures" integer not null default 0`,
    sql`alter table "calendars" add column "failureReason" text`,
    sql`alter table "calendars" add column "failingSince" bigint`,
    sql`alter table "calendars" add column "retryAt" bigint`,
  ])
    await statement.execute(db)
}
