import { type Kysely, sql } from 'kysely'

/**
 * Finished jobs are removed, so `jobs` keeps no statistics. What was due is added again by the sweepers. The former table goes
 * on as `laneJobs` for the jobs of single instances.
 */
export const name = '0009-jobs'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`drop table "jobs"`.execute(db)
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

  await sql`create table "laneJobs" (
    "lane" text not null,
    "subject" text not null,
    "state" text not null,
    "runAt" bigint not null,
    "again" integer not null default 0,
    "attempts" integer not null default 0,
    "leaseUntil" bigint,
    "lease" text,
    "instanceId" text,
    "lastRunAt" bigint,
    "lastError" text,
    "completed" bigint not null default 0,
    "failed" bigint not null default 0,
    constraint "laneJobs_key" primary key ("lane", "subject"))`.execute(db)
  await sql`create index "laneJobs_due" on "laneJobs" ("lane", "runAt") where "state" = 'waiting'`.execute(db)
  await sql`create index "laneJobs_leases" on "laneJobs" ("leaseUntil") where "state" = 'active'`.execute(db)
}
