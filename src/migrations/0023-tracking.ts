import { type Kysely, sql } from 'kysely'

/** Opens, clicks and replies of sent messages. */
export const name = '0023-tracking'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [
    sql`create table "trackings" (
      "id" text not null primary key,
      "accountId" text not null,
      "messageId" text not null,
      "tokenHash" text not null,
      "rfcIdHash" text,
      "subject" text not null,
      "openCount" bigint not null,
      "clickCount" bigint not null,
      "replyCount" bigint not null,
      "lastOpenedAt" bigint,
      "lastClickedAt" bigint,
      "lastRepliedAt" bigint,
      "version" bigint not null,
      "createdAt" bigint not null)`,
    sql`create unique index "trackings_tokenHash" on "trackings" ("tokenHash")`,
    sql`create index "trackings_accountId_rfcIdHash" on "trackings" ("accountId", "rfcIdHash")`,
    sql`create index "trackings_messageId" on "trackings" ("messageId")`,
    sql`create index "trackings_createdAt" on "trackings" ("createdAt")`,
    sql`create table "trackingLinks" (
      "trackingId" text not null,
      "number" integer not null,
      "url" text not null,
      primary key ("trackingId", "number"))`,
    sql`create table "trackingEvents" (
      "id" text not null primary key,
      "trackingId" text not null,
      "accountId" text not null,
      "type" text not null,
      "occurredAt" bigint not null,
      "automatedReason" text,
      "url" text,
      "replyMessageId" text,
      "userAgent" text,
      "ipAddress" text)`,
    sql`create index "trackingEvents_trackingId_id" on "trackingEvents" ("trackingId", "id")`,
  ]) {
    await statement.execute(db)
  }
}
