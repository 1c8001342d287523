import { type Kysely, sql } from 'kysely'

/** Adds the problem of the server at the last failed sign-in of a session, for the application. */
export const name = '0008-session-failure-reason'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table "authSessions" add column "failureReason" text`.execute(db)
}
