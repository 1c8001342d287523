import { ProviderError } from '../../providers/contract/index.ts'
import { calendarRefused } from '../refusals.ts'
import { type CalendarRow, calendarStore } from '../store.ts'
import { syncCalendar } from './calendar.ts'
import { listCalendars } from './listing.ts'
import type { AccountCalendarsDeps, OwnedCalendars } from './owned-calendars.ts'

/** How often the calendars themselves are listed: a new one appears, and a deleted one disappears, within a minute. */
const LIST_MS = 50_000
/** Failing calendars are read so long in one run: each may take half a minute, and meanwhile no other one is read. */
const RETRIES_MS = 30_000

export interface DueCalendars {
  isDue(calendar: CalendarRow): boolean
  /** The calendars are listed first, however recently they were. */
  isListed: boolean
  /** Called with each calendar that was read, and each that could not be. Says whether the others may be read, too. */
  onSynced(calendar: CalendarRow): void | Promise<void>
  onFailed(calendar: CalendarRow, error: ProviderError): boolean | Promise<boolean>
}

/**
 * Syncs the calendars of one account that are due, once, and returns all that can be synced. One that is gone is removed. One that fails
 * does not stop the others; only after a refused password they wait for the next run. Throws `ProviderError` when the account itself
 * fails, `OwnershipLost`, or the signal's reason.
 */
export async function syncCalendars(
  deps: AccountCalendarsDeps,
  owned: OwnedCalendars,
  { isDue, isListed, onSynced, onFailed }: DueCalendars,
): Promise<CalendarRow[]> {
  const { db, clock } = deps
  const { accountId, signal } = owned
  const listedAt = await calendarStore(db.read).listedAt(accountId)
  if (isListed || listedAt === undefined || clock.now() - listedAt >= LIST_MS) await listCalendars(deps, owned)
  const retriesUntil = clock.monotonic() + RETRIES_MS
  let hasRead = false
  let isGone = false
  let isRefused = false
  for (const calendar of (await readable(deps, accountId)).filter(isDue).sort(failingLast)) {
    signal.throwIfAborted()
    if (calendar.failures > 0 && clock.monotonic() > retriesUntil) break
    try {
      await syncCalendar(deps, owned, calendar)
      hasRead = true
      await onSynced(calendar)
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error
      isGone ||= error.kind === 'not_found'
      // An account whose credentials or scopes are refused may not list its calendars either.
      const isAccess = error.kind === 'auth_expired' || error.missingScope
      if (isAccess && !isRefused) await listCalendars(deps, owned)
      isRefused ||= isAccess
      const failure = isAccess ? calendarRefused(error) : error
      if (!(await onFailed(calendar, failure))) throw failure
      if (!failure.passwordRefused) continue
      // Sent again and again, a refused password may lock the account. The next run begins with the others.
      if (!hasRead) throw failure
      return readable(deps, accountId)
    }
  }
  if (isGone) await listCalendars(deps, owned)
  return readable(deps, accountId)
}

/** Calendars that failed last time come last, the one that waits the longest first. */
function failingLast(left: CalendarRow, right: CalendarRow): number {
  return (left.retryAt ?? 0) - (right.retryAt ?? 0)
}

/** The events of others cannot be read. */
async function readable({ db }: AccountCalendarsDeps, accountId: string): Promise<CalendarRow[]> {
  return (await calendarStore(db.read).all(accountId)).filter(({ role }) => role !== 'freeBusyReader')
}
