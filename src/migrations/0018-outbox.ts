import { type Kysely, sql } from 'kysely'

/** Messages to send, their composed bytes, and the SMTP servers that were found for accounts. */
export const name = '0018-outbox'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table "outbox" (
    "id" text not null primary key,
    "accountId" text not null,
    "status" text not null,
    "messageId" text not null,
    "rfcMessageId" text not null,
    "sentToken" text not null,
    "draftId" text,
    "subject" text not null,
    "envelope" text not null,
    "repliesTo" text,
    "sizeBytes" bigint not null,
    "refused" text not null,
    "error" text,
    "attempts" integer not null,
    "checks" integer not null,
    "sendAt" bigint,
    "dueAt" bigint,
    "giveUpAt" bigint not null,
    "lease" text,
    "leasedUntil" bigint,
    "committedAt" bigint,
    "providerMessageId" text,
    "sentAt" bigint,
    "createdAt" bigint not null,
    "updatedAt" bigint not null)`.execute(db)
  await sql`create index "outbox_due" on "outbox" ("accountId", "dueAt", "id") where "dueAt" is not null`.execute(db)
  await sql`create index "outbox_accountId_id" on "outbox" ("accountId", "id")`.execute(db)
  await sql`create index "outbox_status_id" on "outbox" ("status", "id") where "status" <> 'sent'`.execute(db)
  await sql`create index "outbox_leased" on "outbox" ("id") where "leasedUntil" is not null`.execute(db)
  await sql`create table "outboxParts" (
    "outboxId" text not null,
    "part" integer not null,
    "data" text not null,
    primary key ("outboxId", "part"))`.execute(db)
  await sql`create table "outboxServers" (
    "accountId" text not null primary key,
    "accessVersion" bigint not null,
    "smtp" text not null)`.execute(db)
}
