/**
 * Keeps stored messages in step with mailboxes: one queue lane per process, one standing session per owned account.
 * Rows, cursor, counters and events change in one transaction; the cursor is never ahead of the rows.
 */
import './schema.ts'

export { eraseCursors } from './cursor-store.ts'
export { type DebouncedQueueDeps, debouncedQueueRoutes } from './debounced-queue-routes.ts'
export { type SyncDeps, type SyncSettings, type SyncTiming, syncLane } from './deps.ts'
export { lookSoon, type Sync, sync, wakeAccount } from './engine.ts'
export { folderEvents } from './events.ts'
