import { type Kysely, sql } from 'kysely'

/** Who puts copies into Sent, and which message a sent one replies to. */
export const name = '0061-sent-copies'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table "outbox" add column "repliedId" text`.execute(db)
  await sql`create table "outboxKeepers" (
    "accountId" text not null primary key,
    "accessVersion" bigint not null,
    "savedBy" text not null,
    "probe" text)`.execute(db)
}
