/** Collections of an account that are listed, and each synced by a cursor of its own: calendars with events, address books with contacts. */
export { type FailingCollections, failingCollections } from './failing.ts'
export { type CollectionNames, RunLog } from './run-log.ts'
export { afterFailure } from './run-result.ts'
export { syncFromCursor } from './sync-from-cursor.ts'
export { type UnreadableItem, UnreadableItems } from './unreadable.ts'
