import { type Kysely, sql } from 'kysely'

/** Adds the number of the last change of a group of contacts through the API. Sync may have listed the groups before it. */
export const name = '0016-expand-contact-group-changes'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table "contactListings" add column "groupChange" bigint not null default 0`.execute(db)
}
