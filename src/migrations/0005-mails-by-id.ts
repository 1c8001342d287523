import { type Kysely, sql } from 'kysely'

/** Messages with a provider id (gmail, microsoft) are one row each, found by that id. IMAP messages have a location instead. */
export const name = '0005-mails-by-id'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create unique index "messages_accountId_providerMessageId" on "messages" ("accountId", "providerMessageId")
    where "uidValidity" is null`.execute(db)
}
