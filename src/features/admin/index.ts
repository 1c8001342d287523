/**
 * The admin portal, whose scripts are in `src/ui/admin`: its page and files, its sign-in, and what it shows that the API for
 * applications does not have.
 */
import type { Db } from '../../infra/db/index.ts'
import type { App, Authenticator } from '../../infra/http/index.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Overview } from './overview/api.ts'
import { bookingCountRoutes } from './bookings/routes.ts'
import { counts } from './overview/counts.ts'
import { overviewRoutes } from './overview/routes.ts'
import { portalPages } from './pages.ts'
import { type PreviewDeps, previewRoutes } from './previews/routes.ts'

export { adminSessionRoutes, adminSessions, purgeAdminSessions, SESSION_MS } from './sessions/index.ts'

export interface PortalDeps extends PreviewDeps {
  db: Db
  clock: Clock
  syncHealth(): Promise<Overview['sync']>
  /** Undefined when nobody can sign in. */
  sessions: Authenticator | undefined
}

export function portalRoutes(app: App, { db, clock, sessions, syncHealth, readSanitized }: PortalDeps): void {
  portalPages(app, sessions)
  overviewRoutes(app, counts(db.read, clock, syncHealth))
  bookingCountRoutes(app, db.read, clock)
  previewRoutes(app, { readSanitized })
}
