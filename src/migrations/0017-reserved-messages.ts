import { type Kysely, sql } from 'kysely'

/** The ids of messages that this service sends or saves as drafts, until sync finds them in the mailbox. */
export const name = '0017-reserved-messages'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table "reservedMessages" (
    "accountId" text not null,
    "key" text not null,
    "messageId" text not null,
    "as" text not null,
    "createdAt" bigint not null,
    primary key ("accountId", "key"))`.execute(db)
  await sql`create index "reservedMessages_messageId" on "reservedMessages" ("messageId")`.execute(db)
  await sql`create index "reservedMessages_createdAt" on "reservedMessages" ("createdAt")`.execute(db)
}
