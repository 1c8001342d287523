import { type RawBuilder, sql } from 'kysely'
import type { Dialect, Handle } from '../db/index.ts'
import type { Addition } from './batcher.ts'

/** A job this process may run until its lease ends. */
export interface Claim {
  key: string
  failures: number
  lease: string
}

/** How a run ended. `nextMs` is when to run again; null when only an `add` makes it run again. */
export interface RunResult {
  key: string
  lease: string
  outcome: 'completed' | 'failed' | 'interrupted'
  nextMs: number | null
}

/**
 * The statements of the queue; the text of each is the same for any number of rows. Rows are locked in the order of their
 * keys, so that batches of two processes do not deadlock. `cross join`, and the queue from its left side, make SQLite look
 * up the given rows instead of scanning the queue.
 */
export function jobStore(handle: Handle, dialect: Dialect) {
  const now = dialect.nowMs
  /** Selects and locks the given jobs whose leases are still held. */
  const held = (queue: string, results: RawBuilder<unknown>) => sql`
    select "jobs"."queue", "jobs"."key", "given".* from ${results} as "given" cross join "jobs"
    where "jobs"."queue" = ${queue} and "jobs"."key" = "given"."jobKey" and "jobs"."lease" = "given"."jobLease"
    order by "jobs"."key" ${dialect.forUpdate}`

  return {
    /** Returns the queues in which a job became due earlier than before. `jobs` must not contain duplicates. */
    async add(jobs: readonly Addition[]): Promise<string[]> {
      const values = dialect.rows(
        { queue: 'text', key: 'text', delayMs: 'bigint' },
        jobs.map(({ queue, key, delayMs }) => ({ queue, key, delayMs })),
      )
      // Locks a row until the commit even when its values do not change, so that no run starts before.
      const { rows } = await sql<{ queue: string; lease: string | null }>`
        insert into "jobs" ("queue", "key", "runAt")
        select "queue", "key", ${now} + "delayMs" from ${values} as "given" where true order by "queue", "key"
        on conflict ("queue", "key") do update set
          "again" = case when "jobs"."lease" is null then 0 else 1 end, "runAt" = excluded."runAt"
        where ("jobs"."lease" is not null and "jobs"."again" = 0) or excluded."runAt" < "jobs"."runAt"
        returning "queue", "lease"`.execute(handle)
      return [...new Set(rows.filter((row) => row.lease === null).map((row) => row.queue))]
    },

    async claim(queue: string, limit: number, lease: string, leaseMs: number, instanceId: string): Promise<Claim[]> {
      const { rows } = await sql<{ key: string; failures: number }>`
        with "due" as (
          select "queue", "key" from "jobs" where "queue" = ${queue} and "lease" is null and "runAt" <= ${now}
          order by "runAt" limit ${limit} ${dialect.skipLocked})
        update "jobs" set "again" = 0, "lease" = ${lease}, "leaseUntil" = ${now} + ${bigint(leaseMs)},
          "instanceId" = ${instanceId}
        from "due" where "jobs"."queue" = "due"."queue" and "jobs"."key" = "due"."key"
        returning "jobs"."key", "jobs"."failures"`.execute(handle)
      return rows.map((row) => ({ ...row, lease }))
    },

    /** Records the results of runs, except those that lost their lease. Returns the milliseconds until the next of them runs again. */
    async finish(queue: string, results: readonly RunResult[]): Promise<number | undefined> {
      const values = dialect.rows(
        { jobKey: 'text', jobLease: 'text', outcome: 'text', nextMs: 'bigint' },
        results.map(({ key, lease, outcome, nextMs }) => ({ jobKey: key, jobLease: lease, outcome, nextMs })),
      )
      // The deletion keeps jobs that were added meanwhile; the update then reschedules all remaining ones.
      const { numAffectedRows } = await sql`
        with "ended" as (${held(queue, values)})
        delete from "jobs" where "again" = 0
          and ("queue", "key") in (select "queue", "key" from "ended" where "nextMs" is null)`.execute(handle)
      if (Number(numAffectedRows ?? 0n) === results.length) return undefined
      const { rows } = await sql<{ dueInMs: number }>`
        with "ended" as (${held(queue, values)})
        update "jobs" set
          "runAt" = case
            when "nextMs" is null or ("outcome" = 'completed' and "again" = 1 and "runAt" < ${now} + "nextMs") then "runAt"
            else ${now} + "nextMs" end,
          "failures" = case "outcome" when 'completed' then 0 when 'failed' then "failures" + 1 else "failures" end,
          "again" = 0, "lease" = null, "leaseUntil" = null, "instanceId" = null
        from "ended" where "jobs"."queue" = "ended"."queue" and "jobs"."key" = "ended"."key"
        returning "runAt" - ${now} as "dueInMs"`.execute(handle)
      return rows.length === 0 ? undefined : Math.min(...rows.map((row) => row.dueInMs))
    },

    /** Returns the keys of the leases that were still held and now last `leaseMs` from now. */
    async renew(queue: string, claims: readonly Pick<Claim, 'key' | 'lease'>[], leaseMs: number): Promise<string[]> {
      const values = dialect.rows(
        { jobKey: 'text', jobLease: 'text' },
        claims.map(({ key, lease }) => ({ jobKey: key, jobLease: lease })),
      )
      const { rows } = await sql<{ key: string }>`
        with "held" as (${held(queue, values)})
        update "jobs" set "leaseUntil" = ${now} + ${bigint(leaseMs)}
        from "held" where "jobs"."queue" = "held"."queue" and "jobs"."key" = "held"."key"
        returning "jobs"."key"`.execute(handle)
      return rows.map((row) => row.key)
    },

    /** Frees the jobs of silent workers. Returns their queues. */
    releaseExpired: () => release(sql`"leaseUntil" < ${now}`),

    releaseInstance: (instanceId: string) => release(sql`"instanceId" = ${instanceId}`),

    /** Milliseconds until a job of the queue is due: 0 or less when one is, undefined when none waits. */
    async dueInMs(queue: string): Promise<number | undefined> {
      const { rows } = await sql<{ ms: number }>`
        select "runAt" - ${now} as "ms" from "jobs"
        where "queue" = ${queue} and "lease" is null order by "runAt" limit 1`.execute(handle)
      return rows[0]?.ms
    },

    async hasExpired(): Promise<boolean> {
      const { rows } = await sql`
        select 1 from "jobs" where "lease" is not null and "leaseUntil" < ${now} limit 1`.execute(handle)
      return rows.length > 0
    },
  }

  /** An unfinished run counts as failed. Its job is due at once, because the lease has already delayed it. */
  async function release(condition: RawBuilder<unknown>): Promise<string[]> {
    const { rows } = await sql<{ queue: string }>`
      with "lost" as (
        select "queue", "key" from "jobs" where "lease" is not null and ${condition} ${dialect.skipLocked})
      update "jobs" set "runAt" = ${now}, "again" = 0, "failures" = "failures" + 1, "lease" = null, "leaseUntil" = null,
        "instanceId" = null
      from "lost" where "jobs"."queue" = "lost"."queue" and "jobs"."key" = "lost"."key"
      returning "jobs"."queue"`.execute(handle)
    return [...new Set(rows.map((row) => row.queue))]
  }
}

/** PostgreSQL infers the type of a parameter from its context, which is not always clear. */
const bigint = (value: number) => sql`cast(${value} as bigint)`
