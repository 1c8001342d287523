import { type Kysely, sql } from 'kysely'

/** Mails that have an id of their own (gmail, microsoft) are one row each, found by it. Those of imap have a place instead. */
export const name = '0005-mails-by-id'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create unique index "messages_accountId_providerMessageId" on "messages" ("accountId", "providerMessageId")
    where "uidValidity" is null`.execute(db)
}
