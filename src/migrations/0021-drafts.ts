import { type Kysely, sql } from 'kysely'

/** By what sync recognises the next version of a draft. Drafts stored before get their row when they are next edited. */
export const name = '0021-drafts'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table "drafts" (
    "messageId" text primary key,
    "accountId" text not null,
    "key" text not null,
    "providerDraftId" text)`.execute(db)
  await sql`create index "drafts_key" on "drafts" ("accountId", "key")`.execute(db)
}
