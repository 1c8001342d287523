/**
 * Keeps the stored messages in sync with the mailboxes. A scheduler runs the accounts that a process owns, one session each.
 * One transaction writes rows, counters, events and the cursor, so the cursor is never ahead of the rows.
 */
import type {} from './tables.ts'

export { type DebouncedQueue, debouncedQueue } from './debounced-queue.ts'
export type { RunOutcome, SyncDeps, SyncSettings } from './deps.ts'
export { syncFeature } from './feature.ts'
export { readSyncHealth, type SyncHealth } from './health/sync-health.ts'
export { type SyncPosition, type SyncPositions, syncPositions } from './positions.ts'
export { type DebouncedQueueDeps, debouncedQueueRoutes } from './routes.ts'
export { type Sync, sync } from './scheduler.ts'
export type { SyncTiming } from './timing.ts'
