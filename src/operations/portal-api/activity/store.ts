import { sql } from 'kysely'
import { compiledOnce, type Handle, type Tx } from '../../../platform/db/index.ts'
import type { ActivityName } from './tables.ts'

export interface HourCount {
  hour: number
  name: ActivityName
  amount: number
}

/** Adds to the counts of hours. In the order of the key, so that two instances lock rows in the same order. */
export async function addCounts(tx: Tx, counts: readonly HourCount[]): Promise<void> {
  const sorted = counts.toSorted((left, right) => left.hour - right.hour || (left.name < right.name ? -1 : 1))
  for (const { hour, name, amount } of sorted) await addCount(tx, hour, name, amount)
}

const addCount = compiledOnce((handle, hour: number, name: ActivityName, amount: number) =>
  handle
    .insertInto('activityCounts')
    .values({ hour, name, amount })
    .onConflict((conflict) =>
      conflict
        .columns(['hour', 'name'])
        .doUpdateSet((eb) => ({ amount: eb('activityCounts.amount', '+', eb.ref('excluded.amount')) })),
    ),
)

/** The sums of a period by name. Reads at most some hundred rows for a day, however much happened. */
export async function sumCounts(handle: Handle, sinceMs: number, untilMs: number): Promise<Map<string, number>> {
  const rows = await handle
    .selectFrom('activityCounts')
    .select(['name', sql<number | string>`sum("amount")`.as('amount')])
    .where('hour', '>=', sinceMs)
    .where('hour', '<', untilMs)
    .groupBy('name')
    .execute()
  return new Map(rows.map(({ name, amount }) => [name, Number(amount)]))
}

/** The first hour with a count. Undefined without any. */
export async function firstHour(handle: Handle): Promise<number | undefined> {
  const row = await handle.selectFrom('activityCounts').select('hour').orderBy('hour').limit(1).executeTakeFirst()
  return row?.hour
}

/** Deletes up to `limit` counts of hours before `beforeMs`. Returns how many. */
export async function purgeActivity(tx: Tx, beforeMs: number, limit: number): Promise<number> {
  const old = await tx
    .selectFrom('activityCounts')
    .select(['hour', 'name'])
    .where('hour', '<', beforeMs)
    .orderBy('hour')
    .limit(limit)
    .execute()
  const last = old.at(-1)
  if (last === undefined) return 0
  const { numDeletedRows } = await tx.deleteFrom('activityCounts').where('hour', '<=', last.hour).executeTakeFirst()
  return Number(numDeletedRows)
}
