import { type Kysely, sql } from 'kysely'

/** Reports about the delivery of sent messages: those still to be read, and the bounces that were found. */
export const name = '0025-bounces'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table "pendingReports" (
    "messageId" text primary key,
    "accountId" text not null,
    "attempts" integer not null,
    "createdAt" bigint not null)`.execute(db)
  await sql`create index "pendingReports_accountId" on "pendingReports" ("accountId", "attempts", "messageId")`.execute(
    db,
  )
  await sql`create table "bounces" (
    "reportMessageId" text primary key,
    "accountId" text not null,
    "messageId" text,
    "kind" text not null,
    "recipients" text not null,
    "bouncedAt" bigint not null)`.execute(db)
  await sql`create index "bounces_messageId" on "bounces" ("messageId") where "messageId" is not null`.execute(db)
  await sql`create index "bounces_accountId" on "bounces" ("accountId")`.execute(db)
  await sql`create index "bounces_bouncedAt" on "bounces" ("bouncedAt")`.execute(db)
  await sql`create index "outbox_sentToken" on "outbox" ("sentToken")`.execute(db)
}
