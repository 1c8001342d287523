/**
 * `GET /logs`: the newest records of every replica as one list, from their rings in memory. Replicas ask each other over the
 * bus; one that does not answer in time is named, never waited for.
 */

export { type SharedLogs, type SharedLogsDeps, sharedLogs } from './replica-logs.ts'
export { type LogRoutesDeps, logRoutes } from './routes.ts'
