import { type RawBuilder, sql } from 'kysely'
import type { Dialect, Handle } from '../db/index.ts'
import type { JobState, LaneStats } from './queue.ts'

/** A job to announce. */
export interface Announcement {
  lane: string
  subject: string
  delayMs: number
}

/** A job this process may run until its lease ends. */
export interface Claim {
  subject: string
  attempts: number
  lease: string
}

/** How a run ended. `nextMs` is when to run again; null when only somebody's `add` shall. */
export interface Ending {
  subject: string
  lease: string
  outcome: 'completed' | 'failed' | 'interrupted'
  nextMs: number | null
  error: string | null
}

/**
 * The statements of the queue, one text per purpose whatever the number of rows. Rows are always locked in the order
 * of their subjects, so that batches of two processes do not deadlock. `cross join` and the lane taken from the left
 * side make SQLite look up the few rows meant instead of walking the lane.
 */
export function jobStore(handle: Handle, dialect: Dialect) {
  const now = dialect.nowMs
  return {
    /** Answers the lanes in which something became due earlier than before. No subject may be given twice. */
    async add(jobs: readonly Announcement[]): Promise<string[]> {
      const given = dialect.rows({ lane: 'text', subject: 'text', delayMs: 'bigint' }, jobs)
      // What changes nothing is not written, but stays locked until the commit: no run can start before it.
      const { rows } = await sql<{ lane: string; state: string }>`
        insert into "laneJobs" ("lane", "subject", "state", "runAt")
        select "lane", "subject", 'waiting', ${now} + "delayMs" from ${given} as "given" where true order by "lane", "subject"
        on conflict ("lane", "subject") do update set
          "state" = case when "laneJobs"."state" = 'active' then 'active' else 'waiting' end,
          "again" = case when "laneJobs"."state" = 'active' then 1 else 0 end,
          "runAt" = excluded."runAt"
        where "laneJobs"."state" = 'idle' or ("laneJobs"."state" = 'active' and "laneJobs"."again" <> 1)
          or excluded."runAt" < "laneJobs"."runAt"
        returning "lane", "state"`.execute(handle)
      return [...new Set(rows.filter((row) => row.state === 'waiting').map((row) => row.lane))]
    },

    async claim(lane: string, limit: number, lease: string, leaseMs: number, instanceId: string): Promise<Claim[]> {
      const { rows } = await sql<{ subject: string; attempts: number }>`
        with "due" as (
          select "lane", "subject" from "laneJobs"
          where "lane" = ${lane} and "state" = 'waiting' and "runAt" <= ${now} and ${isOpen(lane)}
          order by "runAt" limit ${limit} ${dialect.skipLocked})
        update "laneJobs" set "state" = 'active', "again" = 0, "lease" = ${lease}, "leaseUntil" = ${now} + ${bigint(leaseMs)},
          "instanceId" = ${instanceId}
        from "due" where "laneJobs"."lane" = "due"."lane" and "laneJobs"."subject" = "due"."subject"
        returning "laneJobs"."subject", "laneJobs"."attempts"`.execute(handle)
      return rows.map((row) => ({ ...row, lease }))
    },

    /** Writes how runs ended; those whose lease was lost change nothing. Answers which of them run again, and when. */
    async finish(lane: string, endings: readonly Ending[]): Promise<{ dueInMs: number }[]> {
      const given = dialect.rows(
        { subject: 'text', lease: 'text', outcome: 'text', nextMs: 'bigint', error: 'text' },
        endings.map(({ subject, lease, outcome, nextMs, error }) => ({ subject, lease, outcome, nextMs, error })),
      )
      const { rows } = await sql<{ subject: string; state: string; again: number; dueInMs: number }>`
        with "ended" as (
          select "laneJobs"."lane", "laneJobs"."subject", "outcome", "nextMs", "error" from ${given} as "given" cross join "laneJobs"
          where "laneJobs"."lane" = ${lane} and "laneJobs"."subject" = "given"."subject" and "laneJobs"."lease" = "given"."lease"
          order by "laneJobs"."subject" ${dialect.forUpdate})
        update "laneJobs" set
          "state" = case when "again" <> 2 and ("again" = 1 or "nextMs" is not null) then 'waiting' else 'idle' end,
          "runAt" = case
            when "nextMs" is null then "runAt"
            when "outcome" = 'completed' and "again" = 1 and "runAt" < ${now} + "nextMs" then "runAt"
            else ${now} + "nextMs" end,
          "again" = case when "again" = 2 then 2 else 0 end,
          "attempts" = case "outcome" when 'completed' then 0 when 'failed' then "attempts" + 1 else "attempts" end,
          "completed" = "completed" + case "outcome" when 'completed' then 1 else 0 end,
          "failed" = "failed" + case "outcome" when 'failed' then 1 else 0 end,
          "lastError" = case "outcome" when 'interrupted' then "lastError" else "ended"."error" end,
          "lastRunAt" = ${now}, "lease" = null, "leaseUntil" = null, "instanceId" = null
        from "ended" where "laneJobs"."lane" = "ended"."lane" and "laneJobs"."subject" = "ended"."subject"
        returning "laneJobs"."subject", "state", "again", "runAt" - ${now} as "dueInMs"`.execute(handle)
      const removed = rows.filter((row) => row.again === 2).map((row) => row.subject)
      if (removed.length > 0) await forget(lane, removed)
      return rows.filter((row) => row.state === 'waiting')
    },

    /** Answers which of the leases still stood and now last `leaseMs` from now. */
    async renew(lane: string, held: readonly { subject: string; lease: string }[], leaseMs: number): Promise<string[]> {
      const given = dialect.rows(
        { subject: 'text', lease: 'text' },
        held.map(({ subject, lease }) => ({ subject, lease })),
      )
      const { rows } = await sql<{ lease: string; subject: string }>`
        with "held" as (
          select "laneJobs"."lane", "laneJobs"."subject" from ${given} as "given" cross join "laneJobs"
          where "laneJobs"."lane" = ${lane} and "laneJobs"."subject" = "given"."subject" and "laneJobs"."lease" = "given"."lease"
          order by "laneJobs"."subject" ${dialect.forUpdate})
        update "laneJobs" set "leaseUntil" = ${now} + ${bigint(leaseMs)}
        from "held" where "laneJobs"."lane" = "held"."lane" and "laneJobs"."subject" = "held"."subject"
        returning "laneJobs"."subject"`.execute(handle)
      return rows.map((row) => row.subject)
    },

    /** Frees jobs whose worker stopped answering. Answers the lanes that have work again. */
    expire: () => release(sql`"leaseUntil" < ${now}`, 'The worker stopped answering in mid-run.'),

    releaseInstance: (instanceId: string) =>
      release(sql`"instanceId" = ${instanceId}`, 'The process of the worker ended in mid-run.'),

    /** Milliseconds until the lane has something to claim: 0 or less when it has now, undefined when it has nothing. */
    async dueInMs(lane: string): Promise<number | undefined> {
      const { rows } = await sql<{ ms: number }>`
        select "runAt" - ${now} as "ms" from "laneJobs"
        where "lane" = ${lane} and "state" = 'waiting' and ${isOpen(lane)} order by "runAt" limit 1`.execute(handle)
      return rows[0]?.ms
    },

    async hasExpired(): Promise<boolean> {
      const { rows } = await sql`
        select 1 from "laneJobs" where "state" = 'active' and "leaseUntil" < ${now} limit 1`.execute(handle)
      return rows.length > 0
    },

    /** Removed while they run, subjects are forgotten by `finish`. */
    async remove(lane: string, subject: string): Promise<void> {
      const { numAffectedRows } = await sql`
        update "laneJobs" set "again" = 2
        where "lane" = ${lane} and "subject" = ${subject} and "state" = 'active'`.execute(handle)
      if (numAffectedRows === 0n) await forget(lane, [subject])
    },

    async dropLane(lane: string): Promise<number> {
      const { numDeletedRows } = await handle.deleteFrom('laneJobs').where('lane', '=', lane).executeTakeFirstOrThrow()
      await handle.deleteFrom('jobLanes').where('lane', '=', lane).execute()
      return Number(numDeletedRows)
    },

    async clear(lane: string): Promise<number> {
      const { numAffectedRows } = await sql`
        update "laneJobs" set "runAt" = ${now}, "attempts" = 0
        where "lane" = ${lane} and "state" = 'waiting' and "runAt" > ${now}`.execute(handle)
      return Number(numAffectedRows ?? 0n)
    },

    async setPaused(lane: string, paused: boolean): Promise<void> {
      await sql`
        insert into "jobLanes" ("lane", "paused") values (${lane}, ${paused ? 1 : 0})
        on conflict ("lane") do update set "paused" = excluded."paused"`.execute(handle)
    },

    async lanes(prefix: string): Promise<string[]> {
      const rows = await handle
        .selectFrom('laneJobs')
        .select('lane')
        .distinct()
        .where(sql<boolean>`substr("lane", 1, ${prefix.length}) = ${prefix}`)
        .orderBy('lane')
        .execute()
      return rows.map((row) => row.lane)
    },

    async stats(lane: string): Promise<LaneStats> {
      const count = (condition: RawBuilder<unknown>) => sql`coalesce(sum(case when ${condition} then 1 else 0 end), 0)`
      const { rows } = await sql<Omit<LaneStats, 'paused'> & { paused: number }>`
        select ${count(sql`"state" = 'waiting' and "runAt" <= ${now}`)} as "waiting",
          ${count(sql`"state" = 'active'`)} as "active",
          ${count(sql`"state" = 'waiting' and "runAt" > ${now}`)} as "delayed",
          ${count(sql`"again" <> 2`)} as "subjects",
          cast(coalesce(sum("completed"), 0) as bigint) + ${ofLane('completed', lane)} as "completed",
          cast(coalesce(sum("failed"), 0) as bigint) + ${ofLane('failed', lane)} as "failed",
          ${ofLane('paused', lane)} as "paused"
        from "laneJobs" where "lane" = ${lane}`.execute(handle)
      const [row] = rows
      if (row === undefined) throw new Error('an aggregate without a row')
      return { ...row, paused: row.paused === 1 }
    },

    async find(lane: string, subject: string): Promise<JobState | undefined> {
      const row = await handle
        .selectFrom('laneJobs')
        .select(['state', 'attempts', 'lastRunAt', 'lastError', 'runAt', 'again'])
        .where('lane', '=', lane)
        .where('subject', '=', subject)
        .executeTakeFirst()
      if (row === undefined || row.again === 2) return undefined
      const { state, attempts, lastRunAt, lastError } = row
      const runsAgain = state === 'waiting' || row.again === 1
      return { state, attempts, lastRunAt, nextRunAt: runsAgain ? row.runAt : null, lastError }
    },
  }

  /** Deletes the rows and keeps what they counted. */
  async function forget(lane: string, subjects: readonly string[]): Promise<void> {
    const gone = await handle
      .deleteFrom('laneJobs')
      .where('lane', '=', lane)
      .where('subject', 'in', subjects)
      .returning(['completed', 'failed'])
      .execute()
    const completed = gone.reduce((sum, row) => sum + row.completed, 0)
    const failed = gone.reduce((sum, row) => sum + row.failed, 0)
    if (completed + failed === 0) return
    await sql`
      insert into "jobLanes" ("lane", "completed", "failed") values (${lane}, ${completed}, ${failed})
      on conflict ("lane") do update set "completed" = "jobLanes"."completed" + excluded."completed",
        "failed" = "jobLanes"."failed" + excluded."failed"`.execute(handle)
  }

  /** A run that never ended counts as one that failed, and its subject is due at once: the lease was the backoff. */
  async function release(condition: RawBuilder<unknown>, error: string): Promise<string[]> {
    const { rows } = await sql<{ lane: string; subject: string; again: number }>`
      with "lost" as (
        select "lane", "subject" from "laneJobs" where "state" = 'active' and ${condition} ${dialect.skipLocked})
      update "laneJobs" set "state" = case when "again" = 2 then 'idle' else 'waiting' end, "runAt" = ${now},
        "again" = case when "again" = 2 then 2 else 0 end, "attempts" = "attempts" + 1, "failed" = "failed" + 1,
        "lastError" = ${error}, "lastRunAt" = ${now}, "lease" = null, "leaseUntil" = null, "instanceId" = null
      from "lost" where "laneJobs"."lane" = "lost"."lane" and "laneJobs"."subject" = "lost"."subject"
      returning "laneJobs"."lane", "laneJobs"."subject", "again"`.execute(handle)
    for (const { lane, subject, again } of rows) if (again === 2) await forget(lane, [subject])
    return [...new Set(rows.map((row) => row.lane))]
  }
}

const isOpen = (lane: string) => sql`not exists (select 1 from "jobLanes" where "lane" = ${lane} and "paused" = 1)`

const ofLane = (column: 'completed' | 'failed' | 'paused', lane: string) =>
  sql`coalesce((select ${sql.id(column)} from "jobLanes" where "lane" = ${lane}), 0)`

/** PostgreSQL takes the type of a parameter from what stands beside it, which is not always clear. */
const bigint = (value: number) => sql`cast(${value} as bigint)`
