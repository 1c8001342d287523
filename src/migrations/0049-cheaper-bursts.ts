import { type Kysely, sql } from 'kysely'
import type { Db } from '../platform/db/index.ts'

/** Fewer pages to write for each event: an index costs about as much as the row. */
export const name = '0049-cheaper-bursts'

export async function up(db: Kysely<unknown>, engine: Db['engine']): Promise<void> {
  const run = (statement: string) => sql.raw(statement).execute(db)
  // The fan-out assigns the position moments later, and used to move both entries of each event.
  for (const column of ['accountId', 'type']) {
    await run(`drop index "events_${column}_position"`)
    await run(
      `create index "events_${column}_position" on "events" ("${column}", "position") where "position" is not null`,
    )
  }
  if (engine !== 'sqlite') return
  // The key was stored twice, in the table and in the index of its primary key.
  await run(`create table "newClaims" (
    "key" text not null primary key,
    "eventId" text not null,
    "expiresAt" bigint not null) without rowid`)
  await run('insert into "newClaims" select "key", "eventId", "expiresAt" from "deduplicationClaims"')
  await run('drop table "deduplicationClaims"')
  await run('alter table "newClaims" rename to "deduplicationClaims"')
  await run('create index "deduplicationClaims_expiresAt" on "deduplicationClaims" ("expiresAt")')
}
