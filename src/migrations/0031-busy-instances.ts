import { type Kysely, sql } from 'kysely'

/** Which instances block time. Until the next sync has computed them again, busy times are read from the provider. */
export const name = '0031-busy-instances'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table "calendarInstances" add column "isBusy" integer not null default 1`.execute(db)
  await sql`update "calendars" set "windowFrom" = "windowTo"`.execute(db)
}
