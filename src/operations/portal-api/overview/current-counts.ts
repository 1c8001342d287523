import { sql } from 'kysely'
import { countMatching, type Handle } from '../../../platform/db/index.ts'
import type { Overview } from './api.ts'
import { resultCache } from './result-cache.ts'

const KEPT_MS = 2000
const MAX_CACHED = 100

export type CurrentCounts = () => Promise<Overview>

/** Counts what there is now, for the tiles of the overview. Each query is bounded, by an index or by a limit. */
export function currentCounts(handle: Handle, syncHealth: () => Promise<Overview['sync']>): CurrentCounts {
  const cached = resultCache(MAX_CACHED)
  return async () => ({
    accounts: await cached('accounts', KEPT_MS, () => countAccounts(handle)),
    sync: await cached('sync', KEPT_MS, syncHealth),
    endpoints: await cached('endpoints', KEPT_MS, () => countEndpoints(handle)),
    deliveries: await cached('deliveries', KEPT_MS, () => countDeliveries(handle)),
    outbox: await cached('outbox', KEPT_MS, () => countOutbox(handle)),
    calendars: await cached('calendars', KEPT_MS, () => countCalendars(handle)),
    hasExperience: await cached('experience', KEPT_MS, () => hasExperience(handle)),
  })
}

async function countAccounts(handle: Handle): Promise<Overview['accounts']> {
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

async function countEndpoints(handle: Handle): Promise<Overview['endpoints']> {
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

async function countOutbox(handle: Handle): Promise<Overview['outbox']> {
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

async function countCalendars(handle: Handle): Promise<Overview['calendars']> {
  const all = handle.selectFrom('calendars').select('id')
  // SQLite uses the index of failing calendars only for its condition, written out.
  const failing = handle.selectFrom('calendars').select('id').where(sql<boolean>`"failures" > 0`)
  return { total: (await countMatching(handle, all)).count, failing: (await countMatching(handle, failing)).count }
}

async function countDeliveries(handle: Handle): Promise<Overview['deliveries']> {
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

async function hasExperience(handle: Handle): Promise<boolean> {
  return (await handle.selectFrom('experiences').select('id').limit(1).execute()).length > 0
}
