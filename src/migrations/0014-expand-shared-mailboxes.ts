import { type Kysely, sql } from 'kysely'

/** Adds mailboxes that another account's user may open, and sessions that ask for the permission. */
export const name = '0014-expand-shared-mailboxes'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [
    // The account whose tokens open the mailbox. Null: the account has tokens of its own, or of a connection.
    sql`alter table "accounts" add column "sharedWith" text`,
    sql`create index "accounts_sharedWith" on "accounts" ("sharedWith", "id") where "sharedWith" is not null`,
    // 1: the consent includes the scopes for mailboxes that others share with the user.
    sql`alter table "authSessions" add column "sharedMailboxes" integer not null default 0`,
  ]) {
    await statement.execute(db)
  }
}
