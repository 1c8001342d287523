import type { UnreadableItem } from '../../accounts/collections/index.ts'
import type { Fence } from '../../accounts/index.ts'
import type { Recorder } from '../../events/index.ts'
import type { Db } from '../../platform/db/index.ts'
import type { Ids } from '../../platform/ids.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { CalendarAccount, ProviderName } from '../../providers/contract/index.ts'
import type { CalendarRow } from '../store.ts'
import type { EventCounts } from './step/apply.ts'

export interface AccountCalendarsDeps {
  db: Db
  events: Recorder
  ids: Ids
  clock: Clock
  fence: Fence
  /**
   * As `fence`, for transactions of one sync that run at once and write different events: they do not wait for one another, but a
   * take-over and a change through the API wait for all of them. Does not increment `dataVersion`, which is for lists of messages.
   */
  sharedFence: Fence
  /** Months before and after now in which instances are stored. */
  windowMonths: readonly [past: number, future: number]
}

export interface OwnedCalendars {
  accountId: string
  epoch: number
  provider: ProviderName
  remote: CalendarAccount
  signal: AbortSignal
  /** Called after each transaction that stored events. */
  onStored?(counts: EventCounts): void
  /** Called with events that cannot be read, and were not known as such. */
  onUnreadable?(calendar: CalendarRow, events: readonly UnreadableItem[]): void
}
