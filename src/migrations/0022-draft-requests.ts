import { type Kysely, sql } from 'kysely'

/** What requests that save drafts must remember: see `src/mail/drafts/tables.ts`. */
export const name = '0022-draft-requests'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table "draftCreations" (
    "messageId" text primary key,
    "accountId" text not null,
    "requestKey" text unique,
    "createdAt" bigint not null)`.execute(db)
  await sql`create index "draftCreations_accountId" on "draftCreations" ("accountId")`.execute(db)
  await sql`create index "draftCreations_createdAt" on "draftCreations" ("createdAt")`.execute(db)
  await sql`create table "draftLocks" (
    "messageId" text primary key,
    "accountId" text not null,
    "holder" text not null,
    "heldUntil" bigint not null)`.execute(db)
  await sql`create index "draftLocks_accountId" on "draftLocks" ("accountId")`.execute(db)
}
