import { type Kysely, sql } from 'kysely'

/** Tables that every domain uses: values of the whole service, and the job queue. */
export const name = '0001-platform'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of [
    // Values of the whole service by name, as JSON or text: the key ring, its canary, the state of the search index.
    // Written by the part that owns the name, under a lock when replicas may write it at once. Rows stay.
    sql`create table "serviceState" (
      "name" text not null primary key,
      "value" text not null)`,

    // The job queue without Redis. A job is a key that says what to work on; the rows it works on are the truth, and
    // sweepers add lost jobs again. Any part adds a job in the transaction of its change; the worker that holds the
    // lease deletes the row when nothing is left to do.
    sql`create table "jobs" (
      "queue" text not null,
      "key" text not null,
      "runAt" bigint not null,
      "again" integer not null default 0,
      "failures" integer not null default 0,
      "lease" text,
      "leaseUntil" bigint,
      "instanceId" text,
      primary key ("queue", "key"))`,
    sql`create index "jobs_queue_runAt_partial" on "jobs" ("queue", "runAt") where "lease" is null`,
    sql`create index "jobs_leaseUntil_partial" on "jobs" ("leaseUntil") where "lease" is not null`,
  ]) {
    await statement.execute(db)
  }
}
