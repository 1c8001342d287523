import { type Kysely, sql } from 'kysely'
import type { Db } from '../platform/db/index.ts'

/** The queue of the search index, and on PostgreSQL the index itself. On SQLite it is a file of its own. */
export const name = '0019-search'

export async function up(db: Kysely<unknown>, engine: Db['engine']): Promise<void> {
  const id = engine === 'sqlite' ? 'integer primary key' : 'bigint generated always as identity primary key'
  await sql`create table "unindexedMessages" ("id" ${sql.raw(id)}, "accountId" text not null, "messageId" text not null)`.execute(
    db,
  )
  await sql`create index "unindexedMessages_accountId" on "unindexedMessages" ("accountId")`.execute(db)
  if (engine === 'sqlite') return
  await sql`create table "messageTerms" (
    "messageId" text not null primary key,
    "receivedAt" bigint not null,
    "terms" tsvector not null)`.execute(db)
  // Terms are stored apart from the rows, so that a search reads few pages for many messages.
  await sql`alter table "messageTerms" alter column "terms" set storage external`.execute(db)
  await sql`alter table "messageTerms" set (toast_tuple_target = 128)`.execute(db)
  // Every search reads the pending list, which is 4 MB by default.
  await sql`create index "messageTerms_terms" on "messageTerms" using gin ("terms") with (gin_pending_list_limit = 256)`.execute(
    db,
  )
}
