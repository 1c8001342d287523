import type { Handle } from '../../../platform/db/index.ts'
import { isoTime } from '../../../platform/time/time.ts'
import type { Activity, ActivityPeriod } from './api.ts'
import { HOUR_MS } from './counter.ts'
import { latencyPercentile } from './latency.ts'
import { firstHour, sumCounts } from './store.ts'

const P95 = 0.95
/** Nothing is counted later than this, whatever the clocks of instances say. */
const AHEAD_MS = HOUR_MS

/**
 * Counts for consecutive periods, of which the last ends now. An hour belongs to the period in which it starts. Reads at most
 * some hundred rows for each day, by the primary key.
 */
export async function readActivity(handle: Handle, startsMs: readonly number[], nowMs: number): Promise<Activity> {
  const first = await firstHour(handle)
  const periods: ActivityPeriod[] = []
  const latencies = new Map<string, number>()
  for (const [index, startMs] of startsMs.entries()) {
    const endMs = startsMs[index + 1] ?? nowMs + AHEAD_MS
    const amounts = await sumCounts(handle, startMs, endMs)
    for (const [name, amount] of amounts) latencies.set(name, (latencies.get(name) ?? 0) + amount)
    const isCounted = first === undefined ? index === startsMs.length - 1 : endMs > first
    const amount = (name: string) => (isCounted ? (amounts.get(name) ?? 0) : null)
    periods.push({
      start: isoTime(startMs),
      received: amount('received'),
      sent: amount('sent'),
      booked: amount('booked'),
      delivered: amount('delivered'),
      failed: amount('failed'),
      latencyP95Ms: latencyPercentile(amounts, P95) ?? null,
    })
  }
  return { periods, latencyP95Ms: latencyPercentile(latencies, P95) ?? null }
}
