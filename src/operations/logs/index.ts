/**
 * `GET /logs`: the newest log records of all replicas in one list, from their rings in memory. A replica requests the others' records
 * over the bus and reports those that do not respond in time. `GET /logs/stream`: their new records, as they are written.
 */

export { LogStreams, type LogStreamsDeps } from './log-streams.ts'
export { type SharedLogs, type SharedLogsDeps, sharedLogs } from './replica-logs.ts'
export { type LogRoutesDeps, logRoutes } from './routes.ts'
