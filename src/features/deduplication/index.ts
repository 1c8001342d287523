/**
 * Events that say again what was said a moment ago are suppressed: which fields make two events one is a setting.
 * The fan-out asks for every event once; retries, replays and tests never do.
 */
import './tables.ts'

export { purgeDeduplicationClaims } from './database-claims.ts'
export { repeats } from './duplicates.ts'
export { deduplicationRoutes } from './routes.ts'
export { type SharedClaims, sharedClaims } from './shared-claims.ts'
