import { type Kysely, sql } from 'kysely'

/** What the provider has of a label's name and colour, beside what the API shows; and that the labels must be listed again. */
export const name = '0016-label-changes'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table "labels" add column "providerName" text`.execute(db)
  await sql`alter table "labels" add column "providerColor" text`.execute(db)
  await sql`alter table "apiChanges" add column "labelsCleared" integer not null default 0`.execute(db)
}
