/**
 * Hints between the parts of a process and between replicas: "look again". Everyone works without them, only later.
 * `Bus` is the contract; kinds: memory for one process, PostgreSQL or Redis for replicas.
 */
export type { Bus } from './bus.ts'
export { memoryBus } from './memory.ts'
export { openPostgresBus, type PostgresBusOptions } from './postgres.ts'
export { openRedisBus, type RedisBusOptions } from './redis.ts'
