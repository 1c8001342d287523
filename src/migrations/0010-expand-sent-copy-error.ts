import { type Kysely, sql } from 'kysely'

/** Adds why the copy of a sent message could not be saved in Sent, for the application and the portal. */
export const name = '0010-expand-sent-copy-error'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table "outbox" add column "copyError" text`.execute(db)
}
