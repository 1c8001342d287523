import { type Kysely, sql } from 'kysely'
import type { Db } from '../platform/db/index.ts'

/** By what messages without a thread of their provider find their thread. Messages stored before keep theirs. */
export const name = '0027-thread-references'

export async function up(db: Kysely<unknown>, engine: Db['engine']): Promise<void> {
  const run = (statement: string) => sql.raw(statement).execute(db)
  await run(`create table "threadReferences" (
    "accountId" text not null,
    "reference" text not null,
    "threadId" text not null,
    "isStored" bigint not null,
    primary key ("accountId", "reference"))${engine === 'sqlite' ? ' without rowid' : ''}`)
  await run(`create table "threadMerges" (
    "threadId" text not null primary key,
    "accountId" text not null,
    "intoThreadId" text not null,
    "isPending" bigint not null)`)
  await run('create index "threadMerges_accountId" on "threadMerges" ("accountId")')
  await run('create index "threadMerges_threadId_partial" on "threadMerges" ("threadId") where "isPending" = 1')
  // Missing messages change their thread, too.
  await run('drop index "messages_threadId_partial"')
  await run(`create index "messages_threadId" on "messages"
    ("threadId", "receivedAt", "id", "unread", "starred", "hasAttachments", "goneAt")`)
}
