/**
 * The admin portal, whose scripts are in `src/ui/admin`: its page and files, its sign-in, and what it shows that the API for
 * applications does not have.
 */
import type { Db } from '../../platform/db/index.ts'
import type { App, Authenticator } from '../../platform/http/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { type ActivityDeps, activityRoutes } from './activity/routes.ts'
import type {} from './activity/tables.ts'
import { type AppearanceDeps, appearanceRoutes } from './appearance/routes.ts'
import { bookingCountRoutes } from './bookings/routes.ts'
import { eventRoutes } from './events/routes.ts'
import { folderRoutes } from './folders/routes.ts'
import type { Overview } from './overview/api.ts'
import { currentCounts } from './overview/current-counts.ts'
import { deliveryRates } from './overview/delivery-rates.ts'
import { overviewRoutes } from './overview/routes.ts'
import { portalPages } from './pages.ts'
import { type PreviewDeps, previewRoutes } from './previews/routes.ts'
import type { ProviderSetup } from './providers/api.ts'
import { type DailyUnits, providerSetupRoutes } from './providers/routes.ts'
import { type QueueDeps, queueRoutes } from './queue/routes.ts'

export { type ActivityCounter, activityCounter } from './activity/counter.ts'
export type { AppearanceDeps } from './appearance/routes.ts'
export { portalFeature } from './feature.ts'
export { adminSessionRoutes, adminSessions } from './sessions/index.ts'

interface PortalDeps extends PreviewDeps, QueueDeps, ActivityDeps {
  db: Db
  clock: Clock
  syncHealth(): Promise<Overview['sync']>
  /** Undefined when nobody can sign in. */
  sessions: Authenticator | undefined
  appearance: AppearanceDeps
  providers: readonly ProviderSetup[]
  gmailUnits: DailyUnits
}

export function portalRoutes(app: App, deps: PortalDeps): void {
  const { db, clock, sessions, syncHealth, appearance, providers, gmailUnits, readSanitized } = deps
  portalPages(app, sessions)
  overviewRoutes(app, currentCounts(db.read, syncHealth), deliveryRates(db.read, clock))
  bookingCountRoutes(app, db.read, clock)
  appearanceRoutes(app, appearance)
  providerSetupRoutes(app, providers, gmailUnits)
  previewRoutes(app, { readSanitized })
  queueRoutes(app, deps)
  folderRoutes(app, db.read, deps)
  eventRoutes(app, db.read)
  activityRoutes(app, db.read, clock, deps)
}
