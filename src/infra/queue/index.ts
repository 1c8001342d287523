/**
 * Which subject must be looked at again, and when: `Queue` is the contract, kinds: job rows, BullMQ on Redis.
 * Jobs carry ids only; the rows of the rooms are the truth.
 */
import './schema.ts'

export { type DatabaseQueueDeps, databaseQueue } from './database.ts'
export type { AddOptions, JobState, LaneStats, Queue, Run, RunContext, Worker, WorkOptions } from './queue.ts'
export { type RedisQueueDeps, redisQueue } from './redis.ts'
