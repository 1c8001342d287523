import { backfillEvents } from './backfill.ts'
import { bookingEvents } from './booking.ts'
import { calendarEvents } from './calendar.ts'
import { sendingEvents } from './sending.ts'

/**
 * Event types that no feature records yet. The catalogue lists them, so that applications can subscribe in advance. Each file
 * moves into the feature that will record its events.
 */
export const plannedEvents = { sendingEvents, backfillEvents, calendarEvents, bookingEvents }
