import { sql } from 'kysely'
import { LRUCache } from 'lru-cache'
import { eventFeed } from '../../../events/index.ts'
import { countMatching, type Handle } from '../../../platform/db/index.ts'
import { firstId } from '../../../platform/ids.ts'
import { atMost } from '../../../platform/lru.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import { isoTime } from '../../../platform/time/time.ts'
import type { Overview, Rates } from './api.ts'

const HOUR_MS = 3_600_000
const HOURS = 25
/** Counting stops here: a busier hour would hold up other queries. */
const MAX_COUNT = 10_000
/** Past hours change only by retries. */
const PAST_MS = 60_000
const CURRENT_MS = 2000
const MAX_CACHED = 5000

export type Counts = ReturnType<typeof counts>

/** Counts for the charts and tiles. Each query is bounded, by an index or by a limit, and its result is kept for a moment. */
export function counts(handle: Handle, clock: Clock, syncHealth: () => Promise<Overview['sync']>) {
  const cache = new LRUCache<string, Promise<unknown>>({ ...atMost(MAX_CACHED), ttlAutopurge: false })

  function cached<T>(key: string, ttl: number, read: () => Promise<T>): Promise<T> {
    const hit = cache.get(key)
    if (hit !== undefined) return hit as Promise<T>
    const reading = read().catch((error: unknown) => {
      cache.delete(key)
      throw error
    })
    cache.set(key, reading, { ttl })
    return reading
  }

  /** The value of each hour, oldest first, one query after the other. */
  async function eachHour<T>(name: string, read: (startMs: number, endMs: number) => Promise<T>) {
    const current = Math.floor(clock.now() / HOUR_MS) * HOUR_MS
    const hours: { start: string; value: T }[] = []
    for (let back = HOURS - 1; back >= 0; back -= 1) {
      const startMs = current - back * HOUR_MS
      const value = await cached(`${name}:${startMs}`, back < 2 ? CURRENT_MS : PAST_MS, () =>
        read(startMs, startMs + HOUR_MS),
      )
      hours.push({ start: isoTime(startMs), value })
    }
    return hours
  }

  async function deliveriesBetween(startMs: number, endMs: number, endpointId?: string) {
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

  const eventsBetween = async (type: string, startMs: number, endMs: number) => {
    const feed = eventFeed(handle)
    const [after, last] = [await feed.positionBefore(startMs), await feed.positionBefore(endMs)]
    const some = handle
      .selectFrom('events')
      .select('id')
      .where('type', '=', type)
      .where('position', '>', after)
      .where('position', '<=', last)
    return (await countMatching(handle, some)).count
  }

  async function accounts(): Promise<Overview['accounts']> {
    const rows = await handle
      .selectFrom('accounts')
      .select(['paused', 'status', sql<number | string>`count(*)`.as('count')])
      .groupBy(['paused', 'status'])
      .execute()
    const sum = (wanted: (row: (typeof rows)[number]) => boolean) =>
      rows.filter(wanted).reduce((total, row) => total + Number(row.count), 0)
    const running = (...statuses: string[]) => sum((row) => row.paused === 0 && statuses.includes(row.status))
    return {
      total: sum(() => true),
      connected: running('connected', 'syncing'),
      connecting: running('connecting'),
      paused: sum((row) => row.paused === 1),
      authError: running('auth_error'),
      error: running('error'),
    }
  }

  async function endpoints(): Promise<Overview['endpoints']> {
    const rows = await handle.selectFrom('webhookEndpoints').select(['isActive', 'circuitState']).execute()
    return {
      total: rows.length,
      inactive: rows.filter((row) => row.isActive === 0).length,
      unreachable: rows.filter((row) => row.isActive === 1 && row.circuitState !== 'closed').length,
    }
  }

  async function outbox(): Promise<Overview['outbox']> {
    const of = async (status: 'scheduled' | 'queued' | 'sending' | 'uncertain' | 'failed') => {
      const some = handle
        .selectFrom('outbox')
        .select('id')
        .where('status', '=', status)
        // The index excludes sent messages; SQLite uses it only when the query repeats its condition literally.
        .where(sql<boolean>`"status" <> 'sent'`)
      return (await countMatching(handle, some)).count
    }
    const [scheduled, queued, sending] = [await of('scheduled'), await of('queued'), await of('sending')]
    return { waiting: scheduled + queued + sending, uncertain: await of('uncertain'), failed: await of('failed') }
  }

  return {
    async overview(): Promise<Overview> {
      const deliveries = await eachHour('deliveries', (from, to) => deliveriesBetween(from, to))
      const received = await eachHour('received', (from, to) => eventsBetween('message.received', from, to))
      const sent = await eachHour('sent', (from, to) => eventsBetween('message.sent', from, to))
      return {
        accounts: await cached('accounts', CURRENT_MS, accounts),
        sync: await cached('sync', CURRENT_MS, syncHealth),
        endpoints: await cached('endpoints', CURRENT_MS, endpoints),
        outbox: await cached('outbox', CURRENT_MS, outbox),
        hours: deliveries.map(({ start, value }, index) => ({
          start,
          received: received[index]?.value ?? 0,
          sent: sent[index]?.value ?? 0,
          ...value,
        })),
      }
    },
    async rates(endpointId: string | undefined): Promise<Rates> {
      const name = endpointId === undefined ? 'deliveries' : `deliveries of ${endpointId}`
      const hours = await eachHour(name, (from, to) => deliveriesBetween(from, to, endpointId))
      return { hours: hours.map(({ start, value }) => ({ start, ...value })) }
    },
  }
}
