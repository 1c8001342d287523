import { type Kysely, sql } from 'kysely'

/** Events that a provider did not return are read again, after growing pauses. */
export const name = '0063-refused-events'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [
    sql`alter table "unreadableEvents" add column "failures" integer not null default 0`,
    sql`alter table "unreadableEvents" add column "nextAttemptAt" bigint`,
  ])
    await statement.execute(db)
}
