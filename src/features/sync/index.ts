/**
 * Keeps stored messages in sync with mailboxes: a scheduler of the accounts a process owns, one session per account.
 * Rows, cursor, counters and events change in one transaction; the cursor is never ahead of the rows.
 */
import './tables.ts'

export type { SyncDeps, SyncSettings, SyncTiming } from './deps.ts'
export { folderEvents } from './events.ts'
export { type DebouncedQueueDeps, debouncedQueueRoutes } from './routes.ts'
export { type Sync, sync } from './scheduler.ts'
export { eraseSync } from './store.ts'
