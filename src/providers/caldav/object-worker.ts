import { LRUCache } from 'lru-cache'
import { serveParts } from '../../platform/threads/worker-thread.ts'
import { ProviderError } from '../contract/index.ts'
import { ObjectZones } from './events/zones.ts'
import { parseParts } from './object-batch.ts'
import type { ThreadPart, ThreadRequest } from './object-thread.ts'

// The worker thread of `object-thread.ts`.

/** Zones of recently read calendars, because comparing a description with the zones of the world takes milliseconds. */
const zoneCache = new LRUCache<string, ObjectZones>({ max: 100 })

serveParts<ThreadRequest, ThreadPart>(async function* ({ calendar, ...response }) {
  const zones = zoneCache.get(calendar) ?? new ObjectZones()
  zoneCache.set(calendar, zones)
  try {
    for await (const part of parseParts(response, zones)) yield { part }
  } catch (error) {
    if (!(error instanceof ProviderError) || error.kind !== 'limit_exceeded') throw error
    yield { tooLarge: error.message }
  }
})
