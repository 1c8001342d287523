/** Sessions of the portal: one operator, who signs in with ADMIN_USERNAME and ADMIN_PASSWORD. */
import type {} from './tables.ts'

export { adminSessionRoutes } from './routes.ts'
export { type AdminSessions, type AdminSessionsDeps, adminSessions, SESSION_MS } from './sessions.ts'
export { purgeAdminSessions } from './store.ts'
