/**
 * Hints between the features of a process and between replicas. Without them everything still works, only later.
 * `Bus` is the contract. The memory bus serves one process, the PostgreSQL and Redis buses connect replicas.
 */
export type { Bus } from './bus.ts'
export { memoryBus } from './memory.ts'
export { openPostgresBus, type PostgresBusOptions } from './postgres.ts'
export { openRedisBus, type RedisBusOptions } from './redis.ts'
