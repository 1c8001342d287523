/**
 * Calendars: synced into rows of masters, exceptions and single events, with one row per instance in a window around today, so
 * that lists and free time are ranges of an index. See docs/decisions/0042-calendars.md.
 */
import type {} from './tables.ts'

export type { BusyTimes } from './availability/host-times.ts'
export { availabilityRoutes } from './availability/routes.ts'
export { availability } from './availability/service.ts'
export { type CalendarChanger, calendarChanger } from './edit/changer.ts'
export { calendarChangeRoutes } from './edit/routes.ts'
export { calendarsFeature } from './feature.ts'
export { calendarPushRoutes, GOOGLE_NOTIFICATIONS_PATH } from './push/google-route.ts'
export { calendarNotifications } from './push/notifications.ts'
export { calendarReader } from './read/reader.ts'
export { withCalendarRefusals } from './refusals.ts'
export { calendarRoutes } from './routes.ts'
export type { CalendarTiming } from './sync/run-plans.ts'
export { calendarSync } from './sync/scheduler.ts'
