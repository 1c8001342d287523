import type { Db, Tx } from '../../../platform/db/index.ts'
import { chargeMessages } from '../../guests/booking-mail.ts'
import { type MailBudget, MailLimited } from '../../guests/budget.ts'
import type { BookingRow } from '../../tables.ts'
import { bookedHosts, conflict } from '../booking.ts'
import type { Actor } from '../links.ts'
import { type ChangeDeps, holdHosts, storeCancellation } from '../state-changes.ts'
import { bookingStore } from '../store.ts'
import { cancelOpenMoves } from './deciding.ts'

export interface CancelDeps extends ChangeDeps {
  db: Db
  budget: MailBudget
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
  const { db, clock, events, budget } = deps
  const booking = await bookingStore(db.read).get(id)
  return db.transaction(async (tx) => {
    const { account } = await holdHosts(deps, tx, bookedHosts(booking))
    const row = await bookingStore(tx).lock(id, db.dialect)
    if (row.status === 'cancelled') return row
    if (row.status === 'rejected') throw conflict('The booking was rejected.')
    if (row.endMs <= clock.now()) throw conflict('The booking has taken place.')
    await cancelOpenMoves(tx, row.id, clock.now())
    const notifiesGuests = by !== 'guest' || (await mayMail(tx, budget, row, client))
    const cancelled = await storeCancellation(deps, tx, row, account, { by, reason, notifiesGuests })
    await events.record(tx, [cancelled.event])
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
