import { LRUCache } from 'lru-cache'
import type { Clock } from '../time/clock.ts'
import type { Cache } from './cache.ts'

export interface MemoryCacheOptions {
  clock: Clock
  /** Limit for values, and separately for counters. Default 50,000. */
  maxEntries?: number
  /** Limit for the total size of all values. Default 32 MB. */
  maxBytes?: number
}

const ENTRY_BYTES = 100

/**
 * The cache of a single process. It evicts the least recently used entries, so that no feature can fill the memory.
 * Bounded by size only, because LRUCache allocates the memory of `max` entries at once.
 */
export function memoryCache({ clock, maxEntries = 50_000, maxBytes = 32 * 1024 * 1024 }: MemoryCacheOptions): Cache {
  const shared = { ttlResolution: 0, perf: { now: () => clock.monotonic() } }
  const values = new LRUCache<string, string>({
    ...shared,
    maxSize: maxBytes,
    sizeCalculation: (value, key) =>
      Math.max(Math.floor(maxBytes / maxEntries), ENTRY_BYTES + 2 * (value.length + key.length)),
  })
  // Separate, so that many values cannot evict rate limit counters.
  const counters = new LRUCache<string, { count: number; endsAt: number }>({
    ...shared,
    maxSize: maxEntries,
    sizeCalculation: () => 1,
  })
  return {
    provider: 'memory',
    async get(key) {
      return values.get(key)
    },
    async set(key, value, ttlMs) {
      if (ttlMs > 0) values.set(key, value, { ttl: ttlMs })
      else values.delete(key)
    },
    async delete(key) {
      values.delete(key)
      counters.delete(key)
    },
    async increment(key, ttlMs) {
      const now = clock.monotonic()
      const current = counters.get(key)
      const counter = current === undefined || current.endsAt <= now ? { count: 0, endsAt: now + ttlMs } : current
      counter.count += 1
      if (counter !== current) counters.set(key, counter, { ttl: ttlMs })
      return { count: counter.count, resetInMs: Math.ceil(counter.endsAt - now) }
    },
    ping: async () => {},
    async close() {
      values.clear()
      counters.clear()
    },
  }
}
