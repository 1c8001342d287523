import { type Kysely, sql } from 'kysely'

/** Adds the folders that the application chose for an imap account: label ids as JSON. Null: the default. */
export const name = '0013-expand-chosen-folders'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table "accounts" add column "folders" text`.execute(db)
}
