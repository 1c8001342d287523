import { type Kysely, sql } from 'kysely'

/** Historical backfill. */
export const name = '0042-backfill'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [
    sql`create table "backfills" (
      "accountId" text primary key,
      "status" text not null,
      "version" integer not null,
      "sinceMs" bigint not null,
      "processed" bigint not null,
      "total" bigint,
      "oldestReached" bigint,
      "samples" text not null,
      "attempts" integer not null,
      "nextBatchAt" bigint not null,
      "pausedBy" text,
      "lastError" text,
      "announcedAt" bigint not null,
      "announcedProcessed" bigint not null,
      "startedAt" bigint not null,
      "updatedAt" bigint not null)`,
    sql`create index "backfills_status" on "backfills" ("status", "startedAt", "accountId")`,
    sql`create table "backfillFolders" (
      "accountId" text not null,
      "scopeId" text not null,
      "total" bigint,
      "isCounted" integer not null,
      "checkpoint" text,
      "isDone" integer not null,
      "lowUid" bigint,
      "error" text,
      "createdAt" bigint not null,
      primary key ("accountId", "scopeId"))`,
    sql`alter table "syncCursors" add column "compareFrom" bigint`,
  ])
    await statement.execute(db)
}
