import { AppError } from '../../platform/errors/app-error.ts'
import {
  askApplication,
  type DecisionDeps,
  decideBooking,
  decideMove,
  dropHold,
  rejectPending,
} from '../bookings/actions/deciding.ts'
import { bookingStore } from '../bookings/store.ts'
import type { StoredSlot } from '../contract.ts'
import type { Experience } from '../experiences/experience.ts'
import { Refused, type TaskKind } from './run.ts'

interface CallbackTaskDeps extends DecisionDeps {
  findExperience(id: string): Promise<Experience | undefined>
}

/** Asks the application again after a crash, with the same booking. `subject`: the hold of a move, empty for a new booking. */
export function callbackTask(deps: CallbackTaskDeps): TaskKind {
  const { db, findExperience } = deps
  return {
    async work(booking, { subject }) {
      const experience = await findExperience(booking.experienceId)
      if (experience === undefined) throw new Refused('The experience of this booking no longer exists.')
      if (subject === '') {
        if (booking.status !== 'pending') return undefined
        const decision = await askApplication(deps, experience, booking, {})
        if (decision?.kind === 'failed') throw new AppError(decision.code, { message: decision.reason })
        await decideBooking(deps, booking.id, decision, { experience, isKnown: false }).catch(ignoreRefusal)
      } else {
        const hold = await bookingStore(db.read).findHold(subject)
        if (hold === undefined) return undefined
        const next: StoredSlot = JSON.parse(hold.slot)
        const decision = await askApplication(deps, experience, booking, { next })
        if (decision?.kind === 'failed') throw new AppError(decision.code, { message: decision.reason })
        await decideMove(deps, booking.id, subject, decision).catch(ignoreRefusal)
      }
      // The decision ended the task.
      return undefined
    },

    onGiveUp:
      ({ id }, { subject }, reason) =>
      async (tx) => {
        if (subject === '') await rejectPending(deps, tx, id, reason)
        else await dropHold(tx, subject)
      },
  }
}

/** The booking has been changed by then: its state is what its guest sees. */
function ignoreRefusal(error: unknown): void {
  if (!(error instanceof AppError) || (error.code !== 'slot_unavailable' && error.code !== 'conflict')) throw error
}
