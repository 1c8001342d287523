/**
 * Suppresses an event that equals a recent one in all key fields, which are a setting. The fan-out checks each event once;
 * retries, replays and tests are never suppressed.
 */
import type {} from './tables.ts'

export { duplicateFinder } from './duplicates.ts'
export { deduplicationFeature } from './feature.ts'
export { type SharedClaims, sharedClaims } from './redis-claims.ts'
export { deduplicationRoutes } from './routes.ts'
