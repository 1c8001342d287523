import { type Kysely, sql } from 'kysely'

/**
 * Finished jobs are removed, so `jobs` keeps no statistics, and no job belongs to a single instance. What was due is added again
 * by the sweepers.
 */
export const name = '0009-jobs'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`drop table "jobs"`.execute(db)
  await sql`drop table "jobLanes"`.execute(db)
  await sql`create table "jobs" (
    "queue" text not null,
    "key" text not null,
    "runAt" bigint not null,
    "again" integer not null default 0,
    "failures" integer not null default 0,
    "lease" text,
    "leaseUntil" bigint,
    "instanceId" text,
    constraint "jobs_key" primary key ("queue", "key"))`.execute(db)
  await sql`create index "jobs_queue_runAt_partial" on "jobs" ("queue", "runAt") where "lease" is null`.execute(db)
  await sql`create index "jobs_leaseUntil_partial" on "jobs" ("leaseUntil") where "lease" is not null`.execute(db)
}
