/**
 * The booking scheduler: experiences, their slots, and bookings that never overlap. See docs/decisions/0043-booking-scheduler.md.
 * `platform/schedule` and the `scheduler.ts` of mail, calendars and contacts are something else: they run accounts.
 */

import type { Accounts } from '../accounts/index.ts'
import type { App, Idempotency } from '../platform/http/index.ts'
import type { AuthScreen } from '../ui/hosted/index.ts'
import { bookingLinks } from './bookings/links.ts'
import { bookingRoutes } from './bookings/routes.ts'
import { bookings as createBookings } from './bookings/service.ts'
import type { ChangeDeps } from './bookings/state-changes.ts'
import { applicationCallbacks } from './callbacks/callbacks.ts'
import type { CallbackDeps } from './callbacks/request.ts'
import { experienceRoutes, originReader } from './experiences/routes.ts'
import { experiences as createExperiences, type ExperienceDeps } from './experiences/service.ts'
import { type MailBudgetDeps, mailBudget } from './guests/budget.ts'
import type { MailLimitDeps } from './guests/limit-report.ts'
import { managePageRoutes } from './pages/manage.ts'
import { bookingPageRoutes } from './pages/routes.ts'
import { type BuiltInSlotsDeps, builtInSlots } from './slots/open-hours/built-in-slots.ts'
import { listingRoutes } from './slots/routes.ts'
import { slotFinder } from './slots/slot-finder.ts'
import type {} from './tables.ts'
import { type CalendarTaskDeps, calendarTask } from './tasks/calendar-task.ts'
import { callbackTask } from './tasks/callback-task.ts'
import { decisionTask } from './tasks/decision-task.ts'
import { type TaskTiming, taskEngine } from './tasks/engine.ts'
import { type MessageTaskDeps, messageTask } from './tasks/message-task.ts'
import { reminderTask } from './tasks/reminder-task.ts'
import { jobRoutes } from './tasks/routes.ts'
import { verificationRoutes } from './verification/routes.ts'
import { verification as createVerification, type VerificationDeps } from './verification/service.ts'

export { bookingRecorder } from './bookings/actions/host-changes.ts'
export { bookingFeature } from './feature.ts'
export type { TaskTiming } from './tasks/engine.ts'

type PartDeps = ExperienceDeps &
  BuiltInSlotsDeps &
  CallbackDeps &
  Omit<VerificationDeps, 'budget'> &
  ChangeDeps &
  MailBudgetDeps &
  MailLimitDeps

interface SchedulerDeps extends PartDeps {
  accounts: Accounts
  calendars: CalendarTaskDeps['changer']
  outbox: MessageTaskDeps['outbox'] & VerificationDeps['outbox']
  timing?: Partial<TaskTiming>
}

export type Scheduler = ReturnType<typeof scheduler>

/** The parts of the scheduler. Nothing runs until `tasks` is started. */
export function scheduler(deps: SchedulerDeps) {
  const { db, queue, clock, ids, timing = {} } = deps
  const experiences = createExperiences(deps)
  const links = bookingLinks(deps)
  const callbacks = applicationCallbacks(deps)
  const finder = slotFinder({ ...deps, experiences, callbacks, builtIn: builtInSlots(deps) })
  const budget = mailBudget(deps)
  const verification = createVerification({ ...deps, budget })
  const decisionDeps = { ...deps, callbacks, budget, askAgainMs: timing.askAgainMs }
  const bookings = createBookings({ ...decisionDeps, experiences, finder, links, verification })
  const { findById: findExperience } = experiences
  const kinds = {
    callback: callbackTask({ ...decisionDeps, findExperience }),
    calendar: calendarTask({ ...deps, changer: deps.calendars, links, findExperience }),
    message: messageTask({ ...deps, links, findExperience }),
    reminder: reminderTask(deps),
    decision: decisionTask(decisionDeps),
  }
  const tasks = taskEngine({ ...deps, kinds, timing })
  const jobs = { db, queue, clock, ids }
  return { experiences, callbacks, finder, verification, bookings, links, tasks, jobs, limits: deps }
}

interface SchedulerRouteDeps {
  scheduler: Scheduler
  idempotency: Idempotency
  /** The brand of the pages. */
  authScreen: AuthScreen
}

export function schedulerRoutes(app: App, { scheduler, idempotency, authScreen }: SchedulerRouteDeps): void {
  const { experiences, finder, verification, bookings, links, jobs, limits } = scheduler
  experienceRoutes(app, { experiences, idempotency })
  listingRoutes(app, { experiences, finder })
  verificationRoutes(app, { experiences, verification, limits })
  bookingRoutes(app, { bookings, idempotency, allowedOrigins: originReader(experiences) })
  jobRoutes(app, { ...jobs, idempotency })
  const pages = bookingPageRoutes(app, { experiences, authScreen })
  managePageRoutes(app, { pages, bookings, experiences, links, publicUrl: limits.publicUrl, clock: jobs.clock })
}
