import { LRUCache } from 'lru-cache'
import { withTimeout } from '../../../lib/abort.ts'
import type { Cache } from '../../cache/index.ts'
import type { Log } from '../../log/index.ts'

type Count = Pick<Cache, 'increment'>['increment']

const CACHE_MS = 1000
const MAX_LOCAL_BUCKETS = 20_000

/**
 * Counts in the shared cache and, while that is out of reach, in this process: the buckets guard the IMAP form against
 * guessing, so they must not open because a cache is down, and not close the service either.
 */
export function countingWithFallback(cache: Cache, log: Log): Count {
  const local = localCounter()
  let outOfReach = false
  return async (key, ttlMs) => {
    try {
      const counted = await withTimeout(cache.increment(key, ttlMs), CACHE_MS, () => new Error('the cache is slow'))
      outOfReach = false
      return counted
    } catch (error) {
      if (!outOfReach) {
        log.warn('The cache is out of reach; each instance counts requests on its own.', {
          operation: 'http.limit',
          error,
        })
      }
      outOfReach = true
      return local(key, ttlMs)
    }
  }
}

function localCounter(): Count {
  const counts = new LRUCache<string, number>({ max: MAX_LOCAL_BUCKETS, noUpdateTTL: true })
  return async (key, ttlMs) => {
    const count = (counts.get(key) ?? 0) + 1
    counts.set(key, count, { ttl: ttlMs })
    return { count, resetInMs: counts.getRemainingTTL(key) }
  }
}
