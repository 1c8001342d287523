/**
 * Work that any instance may do, by queue name and key. `Queue` is the contract, implemented with job rows in the database
 * and with BullMQ on Redis. Jobs carry keys only: the rows of the features are the source of truth.
 */
import './tables.ts'

export { type DatabaseQueueDeps, databaseQueue } from './database.ts'
export type { AddOptions, Queue, Run, RunContext, Worker, WorkOptions } from './queue.ts'
export { type RedisQueueDeps, redisQueue } from './redis.ts'
