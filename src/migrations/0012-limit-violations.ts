import { type Kysely, sql } from 'kysely'

/** How often in a row a mail server exceeded the limits, which outlives restarts and syncs that succeed. */
export const name = '0012-limit-violations'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table "syncStates" add column "limitViolations" integer not null default 0`.execute(db)
}
