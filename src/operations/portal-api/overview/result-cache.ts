import { LRUCache } from 'lru-cache'
import { atMost } from '../../../platform/lru.ts'

/** Keeps the results of queries for a moment, by key, so that several open portals cost no more than one. Failures are not kept. */
export function resultCache(maxEntries: number) {
  const results = new LRUCache<string, Promise<unknown>>({ ...atMost(maxEntries), ttlAutopurge: false })
  return <T>(key: string, keptMs: number, read: () => Promise<T>): Promise<T> => {
    const hit = results.get(key)
    if (hit !== undefined) return hit as Promise<T>
    const reading = read().catch((error: unknown) => {
      results.delete(key)
      throw error
    })
    results.set(key, reading, { ttl: keptMs })
    return reading
  }
}
