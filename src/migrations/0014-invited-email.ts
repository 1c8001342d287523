import { type Kysely, sql } from 'kysely'

/** The address that the application named for a session, which `email` is until the user types another. */
export const name = '0014-invited-email'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table "authSessions" add column "invitedEmail" text`.execute(db)
}
