import type { Db, Tx } from '../../platform/db/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { chargeMessages } from '../guests/booking-mail.ts'
import { type MailBudget, MailLimited } from '../guests/budget.ts'
import type { BookingRow } from '../tables.ts'
import { bookedHosts, conflict } from './booking.ts'
import type { BookingChanges } from './changes.ts'
import type { Decisions } from './deciding.ts'
import type { Actor } from './links.ts'
import { bookingStore } from './store.ts'

export interface CancelDeps {
  db: Db
  clock: Clock
  budget: MailBudget
  changes: BookingChanges
  decisions: Decisions
}

interface Cancellation {
  by: Actor
  reason: string | null
  /** Who asked. See `clientBlock`. */
  client: string | undefined
}

/** Repeating it changes nothing. Throws conflict when the booking has ended. */
export async function cancelBooking(
  deps: CancelDeps,
  id: string,
  { by, reason, client }: Cancellation,
): Promise<BookingRow> {
  const { db, clock, changes, decisions, budget } = deps
  const booking = await bookingStore(db.read).get(id)
  return db.transaction(async (tx) => {
    const { account } = await changes.hold(tx, bookedHosts(booking))
    const row = await bookingStore(tx).lock(id, db.dialect)
    if (row.status === 'cancelled') return row
    if (row.status === 'rejected') throw conflict('The booking was rejected.')
    if (row.endMs <= clock.now()) throw conflict('The booking has taken place.')
    await decisions.cancelOpenMoves(tx, row.id)
    const notifiesGuests = by !== 'guest' || (await mayMail(tx, budget, row, client))
    const cancelled = await changes.cancel(tx, row, account, { by, reason, notifiesGuests })
    await changes.record(tx, [cancelled.event])
    return cancelled.row
  })
}

/** The end of a booking is never refused. Where its messages would exceed a budget, only the hosts get one. */
async function mayMail(tx: Tx, budget: MailBudget, row: BookingRow, client: string | undefined): Promise<boolean> {
  try {
    await chargeMessages(tx, budget, row, client)
    return true
  } catch (error) {
    if (error instanceof MailLimited) return false
    throw error
  }
}
