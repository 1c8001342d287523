import type { Feature } from '../feature.ts'
import { bookingEvents } from './bookings/events.ts'
import { eraseBookings, purgeBookings, purgeHolds } from './bookings/store.ts'
import { SEALED_EXPERIENCES } from './experiences/experience.ts'
import { purgeCodes, purgeGuestCounters, purgeKnownGuests } from './guests/purge.ts'
import { releaseTasks } from './tasks/after-restore.ts'

/** A client that let a hold end gets no other one for its time meanwhile. */
const HOLDS_KEPT_MS = 60 * 60 * 1000
/** After the start of a booking, and after the last booking of a guest. */
const BOOKINGS_KEPT_MS = 365 * 24 * 60 * 60 * 1000

export const bookingFeature = {
  name: 'booking',
  tables: {
    experiences: { deletedBy: 'nothing: the operator switches experiences off' },
    bookings: { deletedBy: ['purge', 'erase'] },
    bookingAssignments: { deletedBy: ['purge', 'erase'] },
    bookingEvents: { deletedBy: ['purge', 'erase'] },
    bookingBlocks: { deletedBy: ['purge', 'erase'] },
    bookingTasks: { deletedBy: ['purge', 'erase'] },
    bookingHosts: { deletedBy: ['erase'] },
    bookingHolds: { deletedBy: ['purge'] },
    bookingCodes: { deletedBy: ['purge'] },
    knownGuests: { deletedBy: ['purge'] },
    guestCounters: { deletedBy: ['purge'] },
    mailLimits: { deletedBy: 'nothing: an experience has one row' },
  },
  events: bookingEvents,
  purge: [
    { rows: 'holds', purge: purgeHolds, keptFor: HOLDS_KEPT_MS },
    { rows: 'bookingCodes', purge: purgeCodes, keptFor: 0 },
    { rows: 'guestCounters', purge: purgeGuestCounters, keptFor: 0 },
    { rows: 'knownGuests', purge: purgeKnownGuests, keptFor: BOOKINGS_KEPT_MS },
    { rows: 'bookings', purge: purgeBookings, keptFor: BOOKINGS_KEPT_MS },
  ],
  erase: [eraseBookings],
  sealedColumns: [SEALED_EXPERIENCES],
  afterRestore: releaseTasks,
} as const satisfies Feature
