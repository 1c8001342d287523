import type { Db } from '../../platform/db/index.ts'
import { bookedHosts, isBooked } from '../bookings/booking.ts'
import type { BookingChanges } from '../bookings/changes.ts'
import { bookingStore } from '../bookings/store.ts'
import type { TaskKind } from './run.ts'

/** Records `booking.reminder`, and adds the message to the guest. `subject` is `<sequence>:<minutes before>`. */
export function reminderTask({ db, changes }: { db: Pick<Db, 'dialect'>; changes: BookingChanges }): TaskKind {
  return {
    async work(booking, { subject }) {
      const [sequence, minutes] = subject.split(':').map(Number)
      if (!isBooked(booking) || sequence !== booking.sequence) return undefined
      return async (tx) => {
        const { account } = await changes.hold(tx, bookedHosts(booking))
        const row = await bookingStore(tx).lock(booking.id, db.dialect)
        if (!isBooked(row) || sequence !== row.sequence) return
        const { event } = await changes.remind(tx, row, account, minutes ?? 0)
        await changes.record(tx, [event])
      }
    },
  }
}
