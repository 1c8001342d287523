/**
 * Hints between the features of a process and between replicas. Without them everything still works, only later.
 * `Bus` is the contract. The memory bus serves one process, the PostgreSQL and Redis buses connect replicas.
 */
import type { Bus } from './bus.ts'
import type { PostgresBusOptions } from './postgres.ts'

export type { Bus } from './bus.ts'
export { jsonReader, subscribeJson } from './json-hints.ts'
export { memoryBus } from './memory.ts'
export type { PostgresBusOptions } from './postgres.ts'
export { openRedisBus, type RedisBusOptions } from './redis.ts'

/** Listens on a connection of its own. Loads the driver, which the file store does not need. */
export async function openPostgresBus(options: PostgresBusOptions): Promise<Bus> {
  const postgres = await import('./postgres.ts')
  return postgres.openPostgresBus(options)
}
