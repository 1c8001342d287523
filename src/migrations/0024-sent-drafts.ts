import { type Kysely, sql } from 'kysely'

/** The draft that a message of the outbox was, and what remains to be done after sending. */
export const name = '0024-sent-drafts'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table "outbox" add column "draftHash" text`.execute(db)
  await sql`alter table "outbox" add column "remaining" text`.execute(db)
  await sql`update "outbox" set "remaining" = 'copy' where "status" = 'sent' and "dueAt" is not null`.execute(db)
  await sql`create index "outbox_draftId" on "outbox" ("draftId") where "draftId" is not null`.execute(db)
}
