import { type Kysely, sql } from 'kysely'
import type { Db } from '../platform/db/index.ts'

/** Lists of threads by label, filled from the stored messages. */
export const name = '0020-threads'

export async function up(db: Kysely<unknown>, engine: Db['engine']): Promise<void> {
  const run = (statement: string) => sql.raw(statement).execute(db)
  await run('alter table "messageCounters" add column "threads" bigint not null default 0')
  await run(`create table "threadLabels" (
    "labelId" text not null,
    "threadId" text not null,
    "lastReceivedAt" bigint not null,
    "messages" bigint not null,
    primary key ("labelId", "threadId"))${engine === 'sqlite' ? ' without rowid' : ''}`)
  await run(
    'create index "threadLabels_labelId_lastReceivedAt" on "threadLabels" ("labelId", "lastReceivedAt", "threadId")',
  )
  await run('create index "threadLabels_threadId" on "threadLabels" ("threadId")')
  await run(`create index "messages_threadId_partial" on "messages"
    ("threadId", "receivedAt", "id", "unread", "starred", "hasAttachments") where "goneAt" is null`)
  await run(`insert into "threadLabels" ("labelId", "threadId", "lastReceivedAt", "messages")
    select "listed"."labelId", "messages"."threadId", max("listed"."receivedAt"), count(*)
    from "messageLabels" as "listed" join "messages" on "messages"."id" = "listed"."messageId"
    where "messages"."threadId" is not null group by "listed"."labelId", "messages"."threadId"`)
  await run(`update "messageCounters" set "threads" =
    (select count(*) from "threadLabels" where "threadLabels"."labelId" = "messageCounters"."labelId")`)
}
