import { AppError, invalid } from '../../platform/errors/app-error.ts'
import type { RemoteEvent } from '../../providers/contract/index.ts'
import type { EventRow } from '../store.ts'
import type { Scope } from './api.ts'
import type { Target } from './target.ts'

/** Chooses the events that a request changes. Throws `validation_failed` for a scope that the event does not have. */
export function chooseScope({ event, instance }: Target, requested: Scope | undefined): Scope {
  const isInstance = instance !== undefined || event.recurringEventId !== null
  if (requested === 'this' && event.recurrence.length > 0) {
    throw invalid('query.scope', 'can be this only with the id of one instance, such as cev_…_20260131T080000Z')
  }
  if (requested === 'following' && !isInstance) {
    throw invalid('query.scope', 'can be following only with the id of one instance, such as cev_…_20260131T080000Z')
  }
  return requested ?? (isInstance ? 'this' : 'all')
}

/** The series of an instance; any other event itself. */
export function wholeSeries(target: Target): Target {
  const { account, calendar, event, instance } = target
  if (instance !== undefined) {
    const remote = { calendarId: calendar.providerId, eventId: instance.master.eventId, instance: null }
    return { account, calendar, row: instance.masterRow, event: instance.master, instance: undefined, remote }
  }
  if (event.recurringEventId === null) return target
  throw new AppError('not_supported', {
    message: 'The account is invited to this instance, not to its series. Send the request with scope=this.',
  })
}

/** The rows that a change of the event may touch. */
export function storedRows({ row, instance }: Target): EventRow[] {
  return [row, instance?.masterRow].flatMap((stored) => stored ?? [])
}

/** Returns the event to store before the change, if it has no row yet. */
export function unstoredEvent({ row, event, instance }: Target): RemoteEvent | undefined {
  if (instance !== undefined) return instance.masterRow === undefined ? instance.master : undefined
  return row === undefined ? event : undefined
}
