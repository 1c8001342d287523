import { type Kysely, sql } from 'kysely'

/** The language of a session's pages, when the application chose one. */
export const name = '0013-session-locale'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table "authSessions" add column "locale" text`.execute(db)
}
