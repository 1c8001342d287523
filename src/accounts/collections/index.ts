/** Collections of an account that are listed, and each synced by a cursor of its own: calendars with events, address books with contacts. */
export { type FailingCollections, failingCollections } from './failing.ts'
export { readChanges } from './read-changes.ts'
export { type CollectionNames, RunLog } from './run-log.ts'
export { afterFailure } from './run-result.ts'
export { type UnreadableItem, UnreadableItems } from './unreadable.ts'
