import { type DecisionDeps, rejectPending } from '../bookings/actions/deciding.ts'
import type { TaskKind } from './run.ts'

const TOO_LATE = 'The booking was not confirmed in time.'

/** Rejects a booking about which the application has not decided. It was answered `pending`, and the guest gets a message. */
export function decisionTask(deps: DecisionDeps): TaskKind {
  return {
    async work({ id, status }) {
      return status === 'pending' ? (tx) => rejectPending(deps, tx, id, TOO_LATE) : undefined
    },
  }
}
