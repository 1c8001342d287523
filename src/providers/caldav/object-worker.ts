import { LRUCache } from 'lru-cache'
import { serveThread } from '../../lib/worker-thread.ts'
import { ProviderError } from '../contract/index.ts'
import { batchOf } from './object-batch.ts'
import type { ThreadRequest, ThreadResult } from './object-thread.ts'
import { ObjectZones } from './zones.ts'

// The worker thread of `object-thread.ts`.

/** Zones of recently read calendars, because comparing a description with the zones of the world takes milliseconds. */
const zonesOf = new LRUCache<string, ObjectZones>({ max: 100 })

serveThread<ThreadRequest, ThreadResult>(async ({ calendar, ...response }) => {
  const zones = zonesOf.get(calendar) ?? new ObjectZones()
  zonesOf.set(calendar, zones)
  try {
    return { batch: await batchOf(response, zones) }
  } catch (error) {
    if (error instanceof ProviderError && error.kind === 'limit_exceeded') return { tooLarge: error.message }
    throw error
  }
})
