/**
 * Work that any instance may do, by queue name and key. `Queue` is the contract, implemented with job rows in the database
 * and with BullMQ on Redis. Jobs carry keys only: the rows of the features are the source of truth.
 */
import type { Queue } from './queue.ts'
import type { RedisQueueDeps } from './redis.ts'
import type {} from './tables.ts'

export { type DatabaseQueueDeps, databaseQueue } from './database.ts'
export type { AddOptions, Queue, Run, RunContext, Worker, WorkOptions } from './queue.ts'
export type { RedisQueueDeps } from './redis.ts'
export { sweptWorker } from './swept-worker.ts'

/** The queue on Redis. Loads BullMQ, which is large and which the other kind does not need. */
export async function openRedisQueue(deps: RedisQueueDeps): Promise<Queue> {
  const { redisQueue } = await import('./redis.ts')
  return redisQueue(deps)
}
