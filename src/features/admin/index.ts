/** The portal of the operator: its sign-in. */
export { adminSessionRoutes, adminSessions, purgeAdminSessions, SESSION_MS } from './sessions/index.ts'
