import { type Kysely, sql } from 'kysely'

/** Numbers the changes made through the API, so that sync recognises what it read before them. */
export const name = '0015-api-changes'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table "apiChanges" (
    "accountId" text not null primary key,
    "latest" bigint not null,
    "latestDeletion" bigint not null,
    "latestFolder" bigint not null)`.execute(db)
  await sql`alter table "messages" add column "apiChange" bigint`.execute(db)
}
