import { sql } from 'kysely'
import type { Db } from '../../platform/db/index.ts'
import type { Log } from '../../platform/log/index.ts'
import type { Clock } from '../../platform/time/clock.ts'

/** Units of Gmail's quota that the project used today, by all instances. */
export interface GmailUnits {
  /** Counts units of this instance. Stored within 15 seconds, so a killed process loses at most that. */
  add(units: number): void
  /** Since midnight in California, where Google's days begin. Includes what this instance has not stored yet. */
  today(): Promise<number>
  /** Stores the rest. */
  stop(): Promise<void>
}

const STORE_MS = 15_000
const PREFIX = 'gmailUnits.'

/** One value of the service per day; values of earlier days are deleted. */
export function gmailUnits({ db, clock, log }: { db: Db; clock: Clock; log: Log }): GmailUnits {
  /** Not stored yet, by day. */
  const pending = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined
  let isStopped = false

  async function store(): Promise<void> {
    timer = undefined
    for (const [day, units] of [...pending]) {
      pending.delete(day)
      try {
        await db.transaction(async (tx) => {
          const value = sql<string>`cast(cast("serviceState"."value" as bigint) + ${units} as text)`
          await tx
            .insertInto('serviceState')
            .values({ name: PREFIX + day, value: String(units) })
            .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
            .execute()
          await tx
            .deleteFrom('serviceState')
            .where('name', '>=', PREFIX)
            .where('name', '<', PREFIX + day)
            .execute()
        })
      } catch (error) {
        pending.set(day, (pending.get(day) ?? 0) + units)
        log.debug('The used quota of Gmail could not be stored. It is stored later.', {
          operation: 'gmail.quota',
          error,
        })
      }
    }
  }

  return {
    add(units) {
      const day = californianDay(clock.now())
      pending.set(day, (pending.get(day) ?? 0) + units)
      if (!isStopped) timer ??= setTimeout(() => void store(), STORE_MS)
    },
    async today() {
      const day = californianDay(clock.now())
      const row = await db.read
        .selectFrom('serviceState')
        .select('value')
        .where('name', '=', PREFIX + day)
        .executeTakeFirst()
      return Number(row?.value ?? 0) + (pending.get(day) ?? 0)
    },
    async stop() {
      isStopped = true
      clearTimeout(timer)
      await store()
    },
  }
}

const DAYS = new Intl.DateTimeFormat('en-CA', { timeZone: 'America/Los_Angeles', dateStyle: 'short' })

/** `2026-11-27` */
function californianDay(ms: number): string {
  return DAYS.format(ms)
}
