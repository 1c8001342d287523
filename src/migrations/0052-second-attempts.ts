import { type Kysely, sql } from 'kysely'

/** Refused logins are repeated before they count, and messages that could not be read are read again. */
export const name = '0052-second-attempts'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table "syncStates" add column "refusals" bigint not null default 0`.execute(db)
  await sql`alter table "syncStates" add column "refusedVersion" bigint`.execute(db)
  await sql`alter table "messages" add column "reader" bigint`.execute(db)
  await sql`create index "messages_unreadable" on "messages" ("accountId", "folderId") where "error" is not null`.execute(
    db,
  )
}
