import { sql } from 'kysely'
import type { Handle } from '../../../platform/db/index.ts'
import { firstId } from '../../../platform/ids.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import { isoTime } from '../../../platform/time/time.ts'
import type { Rates } from './api.ts'
import { resultCache } from './result-cache.ts'

const HOUR_MS = 3_600_000
const HOURS = 25
/** Counting stops here: a busier hour would hold up other queries. */
const MAX_COUNT = 10_000
/** Past hours change only by retries. */
const PAST_KEPT_MS = 60_000
const CURRENT_KEPT_MS = 2000
const MAX_CACHED = 5000

export type DeliveryRates = (endpointId: string | undefined) => Promise<Rates>

/** Counts the deliveries of each hour by outcome, of one endpoint or of all, from which the portal shows success rates. */
export function deliveryRates(handle: Handle, clock: Clock): DeliveryRates {
  const cached = resultCache(MAX_CACHED)
  return async (endpointId) => {
    const name = endpointId === undefined ? 'deliveries' : `deliveries of ${endpointId}`
    const current = Math.floor(clock.now() / HOUR_MS) * HOUR_MS
    const hours: Rates['hours'] = []
    // Oldest first, one query after the other.
    for (let back = HOURS - 1; back >= 0; back -= 1) {
      const startMs = current - back * HOUR_MS
      const counts = await cached(`${name}:${startMs}`, back < 2 ? CURRENT_KEPT_MS : PAST_KEPT_MS, () =>
        countDeliveries(handle, { startMs, endMs: startMs + HOUR_MS, endpointId }),
      )
      hours.push({ start: isoTime(startMs), ...counts })
    }
    return { hours }
  }
}

async function countDeliveries(
  handle: Handle,
  { startMs, endMs, endpointId }: { startMs: number; endMs: number; endpointId: string | undefined },
) {
  let some = handle
    .selectFrom('webhookDeliveries')
    .select('status')
    .where('id', '>=', firstId('dlv', startMs))
    .where('id', '<', firstId('dlv', endMs))
  if (endpointId !== undefined) some = some.where('endpointId', '=', endpointId)
  const rows = await handle
    .selectFrom(some.limit(MAX_COUNT).as('some'))
    .select(['status', sql<number | string>`count(*)`.as('count')])
    .groupBy('status')
    .execute()
  const count = (...statuses: string[]) =>
    rows.reduce((sum, row) => sum + (statuses.includes(row.status) ? Number(row.count) : 0), 0)
  return { delivered: count('success'), failed: count('failed'), waiting: count('pending', 'retrying') }
}
