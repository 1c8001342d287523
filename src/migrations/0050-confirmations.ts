import { type Kysely, sql } from 'kysely'

/** Shows whether sync has read a message, an event or a part of a mailbox since a request began, even if it changed no row. */
export const name = '0050-confirmations'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table "messages" add column "confirmations" bigint not null default 0`.execute(db)
  await sql`alter table "calendarEvents" add column "confirmations" bigint not null default 0`.execute(db)
  await sql`alter table "syncCursors" add column "parts" bigint not null default 0`.execute(db)
}
