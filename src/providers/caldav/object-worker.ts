import { LRUCache } from 'lru-cache'
import { serveParts } from '../../platform/threads/worker-thread.ts'
import { ProviderError } from '../contract/index.ts'
import { ObjectZones } from './events/zones.ts'
import { partsOf } from './object-batch.ts'
import type { ThreadPart, ThreadRequest } from './object-thread.ts'

// The worker thread of `object-thread.ts`.

/** Zones of recently read calendars, because comparing a description with the zones of the world takes milliseconds. */
const zonesOf = new LRUCache<string, ObjectZones>({ max: 100 })

serveParts<ThreadRequest, ThreadPart>(async function* ({ calendar, ...response }) {
  const zones = zonesOf.get(calendar) ?? new ObjectZones()
  zonesOf.set(calendar, zones)
  try {
    for await (const part of partsOf(response, zones)) yield { part }
  } catch (error) {
    if (!(error instanceof ProviderError) || error.kind !== 'limit_exceeded') throw error
    yield { tooLarge: error.message }
  }
})
