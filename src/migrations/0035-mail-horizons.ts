import { type Kysely, sql } from 'kysely'

/** How far back mail is stored. Unknown for what was synced before, so searches there also ask the provider. */
export const name = '0035-mail-horizons'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table "mailHorizons" (
    "accountId" text not null,
    "scopeId" text not null,
    "storedSince" bigint not null,
    primary key ("accountId", "scopeId"))`.execute(db)
}
