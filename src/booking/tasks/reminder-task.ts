import type { Db } from '../../platform/db/index.ts'
import { bookedHosts, isBooked } from '../bookings/booking.ts'
import { type ChangeDeps, holdHosts, storeReminder } from '../bookings/state-changes.ts'
import { bookingStore } from '../bookings/store.ts'
import type { TaskKind } from './run.ts'

interface ReminderTaskDeps extends ChangeDeps {
  db: Pick<Db, 'dialect'>
}

/** Records `booking.reminder`, and adds the message to the guest. `subject` is `<sequence>:<minutes before>`. */
export function reminderTask(deps: ReminderTaskDeps): TaskKind {
  return {
    async work(booking, { subject }) {
      const [sequence, minutes] = subject.split(':').map(Number)
      if (!isBooked(booking) || sequence !== booking.sequence) return undefined
      return async (tx) => {
        const { account } = await holdHosts(deps, tx, bookedHosts(booking))
        const row = await bookingStore(tx).lock(booking.id, deps.db.dialect)
        if (!isBooked(row) || sequence !== row.sequence) return
        const { event } = await storeReminder(deps, tx, row, account, minutes ?? 0)
        await deps.events.record(tx, [event])
      }
    },
  }
}
