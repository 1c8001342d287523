import { sql } from 'kysely'
import type { Dialect, Handle } from '../../platform/db/index.ts'
import { DEAD_AFTER_MS } from './dead-instances.ts'

/** The ids of the instances with a recent heartbeat, also when no instance runs that would remove the others. */
export async function runningInstances(handle: Handle, dialect: Dialect): Promise<string[]> {
  const rows = await handle
    .selectFrom('instances')
    .select('id')
    .where('heartbeatAt', '>', sql<number>`${dialect.nowMs} - ${sql.lit(DEAD_AFTER_MS)}`)
    .orderBy('id')
    .execute()
  return rows.map(({ id }) => id)
}
