import { backfillEvents } from './backfill.ts'

/**
 * Event types that no feature records yet. Applications can subscribe in advance, but the documentation does not list them. Each
 * file moves into the feature that will record its events.
 */
export const plannedEvents = { ...backfillEvents }
