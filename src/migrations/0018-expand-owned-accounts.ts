import { type Kysely, sql } from 'kysely'

/** Adds how many accounts an instance owns, so that the others need not count those of all. */
export const name = '0018-expand-owned-accounts'

export async function up(db: Kysely<unknown>): Promise<void> {
  // Written with every move of an account, and by the heartbeat. Null: the instance has a version that does not write it.
  await sql`alter table "instances" add column "ownedAccounts" bigint`.execute(db)
}
