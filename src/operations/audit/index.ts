/**
 * The audit log: what operators and programs with a key changed. Routes declare `audit: '<action>'`; the server records each request
 * of theirs that succeeds (`src/platform/http/server/audit.ts`).
 */
import type {} from './tables.ts'

export { auditLog } from './audit-log.ts'
export { auditFeature } from './feature.ts'
export { auditRoutes } from './routes.ts'
