/**
 * The booking scheduler: experiences, their slots, and bookings that never overlap. See docs/decisions/0043-booking-scheduler.md.
 * `accounts/scheduler` and `sync/scheduler.ts` are something else: they run accounts.
 */
import './tables.ts'
