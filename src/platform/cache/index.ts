/**
 * Short-lived values that may disappear, such as rate limit counters. Never the only copy of anything.
 * `Cache` is the contract. The memory cache serves one process, the Redis cache all replicas.
 */
export type { Cache } from './cache.ts'
export { type MemoryCacheOptions, memoryCache } from './memory.ts'
export { redisCache } from './redis.ts'
