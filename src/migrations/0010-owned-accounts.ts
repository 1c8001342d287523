import { type Kysely, sql } from 'kysely'

/** An instance reads its accounts in pages: all at once, 5,000 accounts block the event loop of the file store for 20 ms. */
export const name = '0010-owned-accounts'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index "accounts_ownerInstance_id" on "accounts" ("ownerInstance", "id")`.execute(db)
  await sql`drop index "accounts_ownerInstance"`.execute(db)
}
