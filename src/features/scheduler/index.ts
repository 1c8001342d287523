/**
 * The booking scheduler: experiences, their slots, and bookings that never overlap. See docs/decisions/0043-booking-scheduler.md.
 * `accounts/scheduler` and `sync/scheduler.ts` are something else: they run accounts.
 */
import './tables.ts'
import type { App, Idempotency } from '../../infra/http/index.ts'
import { experienceRoutes } from './experiences/routes.ts'
import { type ExperienceDeps, experiences as experiencesOf } from './experiences/service.ts'

export type SchedulerDeps = ExperienceDeps

export type Scheduler = ReturnType<typeof scheduler>

/** The parts of the scheduler. Nothing runs until they are started. */
export function scheduler(deps: SchedulerDeps) {
  const experiences = experiencesOf(deps)
  return { experiences }
}

export function schedulerRoutes(app: App, deps: { scheduler: Scheduler; idempotency: Idempotency }): void {
  const { scheduler, idempotency } = deps
  experienceRoutes(app, { experiences: scheduler.experiences, idempotency })
}
