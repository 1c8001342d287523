import type { SelectQueryBuilder } from 'kysely'
import type { Handle, Tables } from './db.ts'

/** Filtered lists are counted up to here: counting further would cost more than the page. */
export const MAX_COUNT = 10_000

/** How many rows the query finds, at most 10,000; `capped` says that there are more. */
export async function countMatching<Table extends keyof Tables>(
  handle: Handle,
  ids: SelectQueryBuilder<Tables, Table, { id: string }>,
): Promise<{ count: number; capped: boolean }> {
  const found = await handle
    .selectFrom(ids.limit(MAX_COUNT + 1).as('matching'))
    .select((eb) => eb.fn.countAll<number | string>().as('count'))
    .executeTakeFirstOrThrow()
  const count = Number(found.count)
  return { count: Math.min(count, MAX_COUNT), capped: count > MAX_COUNT }
}
