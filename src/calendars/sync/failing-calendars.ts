import { type Backoff, backoffMs } from '../../platform/concurrency/retry.ts'
import { truncateText } from '../../platform/formats/text.ts'
import type { ProviderError } from '../../providers/contract/index.ts'
import { type CalendarRow, calendarStore } from '../store.ts'
import type { AccountCalendarsDeps, OwnedCalendars } from './owned-calendars.ts'

/**
 * Calendars that cannot be read. Each waits by itself, longer with each failure in a row and also after a restart, so that it stops no
 * other one of its account.
 */
export interface FailingCalendars {
  /** Whether it is not time to read the calendar again. */
  isWaiting(calendar: CalendarRow): boolean
  /** Returns after how many failures it waits how long. */
  recordFailure(
    owned: Owner,
    calendar: CalendarRow,
    error: ProviderError,
  ): Promise<{ failures: number; pauseMs: number }>
  /** For a calendar that was read. */
  recordSuccess(owned: Owner, calendar: CalendarRow): Promise<void>
}

type Owner = Pick<OwnedCalendars, 'accountId' | 'epoch'>

/** Providers ask for pauses up to this. A longer one is from before the clock was set back. */
const MAX_PAUSE_MS = 24 * 60 * 60 * 1000
const MAX_REASON = 500

export function failingCalendars(
  { db, clock, fence }: Pick<AccountCalendarsDeps, 'db' | 'clock' | 'fence'>,
  backoff: Backoff,
): FailingCalendars {
  async function save({ accountId, epoch }: Owner, { id }: CalendarRow, changes: Partial<CalendarRow>): Promise<void> {
    await db.transaction(async (tx) => {
      await fence(tx, accountId, epoch)
      await calendarStore(tx).update(id, changes)
    })
  }

  return {
    isWaiting({ failures, retryAt }) {
      const leftMs = (retryAt ?? 0) - clock.now()
      return failures > 0 && leftMs > 0 && leftMs <= MAX_PAUSE_MS
    },

    async recordFailure(owned, calendar, error) {
      const failures = calendar.failures + 1
      const pauseMs = Math.min(MAX_PAUSE_MS, Math.max(error.retryAfterMs ?? 0, backoffMs(failures, backoff)))
      const nowMs = clock.now()
      await save(owned, calendar, {
        failures,
        failureReason: truncateText(describeFailure(error), MAX_REASON),
        failingSince: calendar.failingSince ?? nowMs,
        retryAt: nowMs + pauseMs,
      })
      return { failures, pauseMs }
    },

    async recordSuccess(owned, calendar) {
      if (calendar.failures === 0) return
      await save(owned, calendar, { failures: 0, failureReason: null, failingSince: null, retryAt: null })
    },
  }
}

/** A sentence for the operator. */
function describeFailure({ kind, message }: ProviderError): string {
  if (kind === 'not_found') return 'The provider lists this calendar, but does not find it when its events are read.'
  return `${message.charAt(0).toUpperCase()}${message.slice(1).replace(/\.$/, '')}.`
}
