import { type Kysely, sql } from 'kysely'

/** The lock that proves that an instance lives, and a short way to the accounts that cannot be synced. */
export const name = '0043-instance-locks'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table "instances" add column "lockKey" text`.execute(db)
  await sql`create index "accounts_trouble" on "accounts" ("trouble", "id") where "trouble" is not null`.execute(db)
}
