/**
 * Short-lived values that may vanish: rate buckets, label lists. Never the only copy of anything.
 * `Cache` is the contract; the memory kind serves one process, the Redis kind all replicas.
 */
export type { Cache } from './cache.ts'
export { type MemoryCacheOptions, memoryCache } from './memory.ts'
export { redisCache } from './redis.ts'
