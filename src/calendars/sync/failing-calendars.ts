import { type FailingCollections, failingCollections } from '../../accounts/collections/index.ts'
import type { Backoff } from '../../platform/concurrency/retry.ts'
import { calendarStore } from '../store.ts'
import type { AccountCalendarsDeps } from './owned-calendars.ts'

/** Calendars that cannot be read. */
export function failingCalendars(
  { db, clock, fence }: Pick<AccountCalendarsDeps, 'db' | 'clock' | 'fence'>,
  backoff: Backoff,
): FailingCollections {
  return failingCollections(
    {
      db,
      clock,
      fence,
      update: (tx, id, changes) => calendarStore(tx).update(id, changes),
      notFoundReason: 'The provider lists this calendar, but does not find it when its events are read.',
    },
    backoff,
  )
}
