import { type Kysely, sql } from 'kysely'

/** Reads that a message may have ended are counted apart from other failures. */
export const name = '0064-backfill-losses'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table "backfills" add column "losses" integer not null default 0`.execute(db)
}
