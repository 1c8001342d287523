import { sql } from 'kysely'
import { LRUCache } from 'lru-cache'
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
    const rows = await handle
      .selectFrom('webhookEndpoints')
      .select(['isActive', 'circuitState', 'lastDeliveryAt'])
      .execute()
    return {
      total: rows.length,
      hasDelivered: rows.some((row) => row.lastDeliveryAt !== null),
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

  async function calendars(): Promise<Overview['calendars']> {
    const all = handle.selectFrom('calendars').select('id')
    // SQLite uses the index of failing calendars only for its condition, written out.
    const failing = handle.selectFrom('calendars').select('id').where(sql<boolean>`"failures" > 0`)
    return { total: (await countMatching(handle, all)).count, failing: (await countMatching(handle, failing)).count }
  }

  async function deliveries(): Promise<Overview['deliveries']> {
    const of = async (status: 'pending' | 'retrying') => {
      const some = handle
        .selectFrom('webhookDeliveries')
        .select('id')
        .where('status', '=', status)
        .where(sql<boolean>`"status" <> 'success'`)
      return (await countMatching(handle, some)).count
    }
    return { waiting: (await of('pending')) + (await of('retrying')) }
  }

  async function hasExperience(): Promise<boolean> {
    return (await handle.selectFrom('experiences').select('id').limit(1).execute()).length > 0
  }

  return {
    async overview(): Promise<Overview> {
      return {
        accounts: await cached('accounts', CURRENT_MS, accounts),
        sync: await cached('sync', CURRENT_MS, syncHealth),
        endpoints: await cached('endpoints', CURRENT_MS, endpoints),
        deliveries: await cached('waiting', CURRENT_MS, deliveries),
        outbox: await cached('outbox', CURRENT_MS, outbox),
        calendars: await cached('calendars', CURRENT_MS, calendars),
        hasExperience: await cached('experience', CURRENT_MS, hasExperience),
      }
    },
    async rates(endpointId: string | undefined): Promise<Rates> {
      const name = endpointId === undefined ? 'deliveries' : `deliveries of ${endpointId}`
      const hours = await eachHour(name, (from, to) => deliveriesBetween(from, to, endpointId))
      return { hours: hours.map(({ start, value }) => ({ start, ...value })) }
    },
  }
}
