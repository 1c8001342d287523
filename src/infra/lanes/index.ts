/**
 * The former job queue, only for sync and push until both use the owner's scheduler: lanes per instance, paused, cleared and
 * dropped. Everything else uses `infra/queue`. To be deleted with its last user.
 */
import './tables.ts'

export { databaseLanes } from './database.ts'
export type { JobState, LaneStats, Lanes, Worker } from './queue.ts'
export { redisLanes } from './redis.ts'
