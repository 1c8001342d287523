import type { Cache } from '../../src/infra/cache/cache.ts'

/** A cache in a map, for tests of what stands on the interface. */
export function memoryCache(): Cache {
  const counters = new Map<string, { count: number; endsAt: number }>()
  const values = new Map<string, string>()
  return {
    provider: 'memory',
    get: async (key) => values.get(key),
    set: async (key, value) => void values.set(key, value),
    delete: async (key) => void values.delete(key),
    async increment(key, ttlMs) {
      const now = Date.now()
      const known = counters.get(key)
      const counter = known === undefined || known.endsAt <= now ? { count: 0, endsAt: now + ttlMs } : known
      counter.count += 1
      counters.set(key, counter)
      return { count: counter.count, resetInMs: counter.endsAt - now }
    },
    ping: async () => {},
    close: async () => {},
  }
}
