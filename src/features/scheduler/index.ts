/**
 * The booking scheduler: experiences, their slots, and bookings that never overlap. See docs/decisions/0043-booking-scheduler.md.
 * `accounts/scheduler` and `sync/scheduler.ts` are something else: they run accounts.
 */
import './tables.ts'
import type { App, Idempotency } from '../../infra/http/index.ts'
import type { AuthScreen } from '../../ui/hosted/index.ts'
import { type BuiltInSlotsDeps, builtInSlots } from './availability/finder.ts'
import { applicationCallbacks } from './callbacks/callbacks.ts'
import type { CallbackDeps } from './callbacks/request.ts'
import { slotFinder } from './callbacks/slot-finder.ts'
import { experienceRoutes } from './experiences/routes.ts'
import { type ExperienceDeps, experiences as experiencesOf } from './experiences/service.ts'
import { listingRoutes } from './listing/routes.ts'
import { bookingPageRoutes } from './pages/routes.ts'
import { verificationRoutes } from './verification/routes.ts'
import { type VerificationDeps, verification as verificationOf } from './verification/service.ts'

export type SchedulerDeps = ExperienceDeps & BuiltInSlotsDeps & CallbackDeps & VerificationDeps

export type Scheduler = ReturnType<typeof scheduler>

/** The parts of the scheduler. Nothing runs until they are started. */
export function scheduler(deps: SchedulerDeps) {
  const experiences = experiencesOf(deps)
  const callbacks = applicationCallbacks(deps)
  const finder = slotFinder({ ...deps, experiences, callbacks, builtIn: builtInSlots(deps) })
  const verification = verificationOf(deps)
  return { experiences, callbacks, finder, verification }
}

export interface SchedulerRouteDeps {
  scheduler: Scheduler
  idempotency: Idempotency
  /** The brand of the pages. */
  authScreen: AuthScreen
}

export function schedulerRoutes(app: App, { scheduler, idempotency, authScreen }: SchedulerRouteDeps): void {
  const { experiences, finder, verification } = scheduler
  experienceRoutes(app, { experiences, idempotency })
  listingRoutes(app, { experiences, finder })
  verificationRoutes(app, { experiences, verification })
  bookingPageRoutes(app, { experiences, authScreen })
}
