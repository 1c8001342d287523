import {
  type Account,
  type Accounts,
  type Ownership,
  OwnershipLost,
  readSyncHint,
  SYNC_TOPIC,
} from '../../accounts/index.ts'
import type { Bus } from '../../platform/bus/index.ts'
import type { Backoff } from '../../platform/concurrency/retry.ts'
import { OwnedScheduler, type RunContext, type RunResult } from '../../platform/schedule/index.ts'
import {
  type MailAccess,
  missingFor,
  ProviderError,
  type ProviderName,
  type UnreadableEvent,
} from '../../providers/contract/index.ts'
import { CALENDAR_REFRESH_TOPIC } from '../availability/refreshing.ts'
import { CALENDAR_CHANGES_TOPIC } from '../push/notifications.ts'
import { type CalendarSubscription, calendarSubscriptionStore } from '../push/store.ts'
import { type CalendarSubscriptionsDeps, calendarSubscriptions } from '../push/subscriptions.ts'
import { type CalendarRow, calendarStore } from '../store.ts'
import { syncCalendars } from './account.ts'
import { failingCalendars } from './failing-calendars.ts'
import type { AccountCalendarsDeps, OwnedCalendars } from './owned-calendars.ts'
import type { EventCounts } from './step/apply.ts'

export interface CalendarSyncDeps extends AccountCalendarsDeps, CalendarSubscriptionsDeps {
  bus: Bus
  accounts: Pick<Accounts, 'getForSync' | 'access'>
  ownership: Ownership
  timing?: Partial<CalendarTiming>
}

export interface CalendarTiming {
  pollMs: number
  /** Calendars whose changes the provider notifies are polled in case a notification is lost. */
  pushedMs: number
  /** Between two runs of an account for notified changes: a program may change many events one by one. */
  notifiedMs: number
  /** How many accounts one process syncs at once. */
  concurrency: number
  retry: Backoff
}

const TIMING: CalendarTiming = {
  pollMs: 60_000,
  pushedMs: 600_000,
  notifiedMs: 1000,
  concurrency: 16,
  retry: { baseMs: 5000, capMs: 600_000 },
}
/** Runs in progress get this long to finish. An aborted run continues at its cursor. */
const MAX_GRACE_MS = 2000
/** Unreadable events of one transaction that are logged one by one. */
const MAX_REPORTED = 5

export interface CalendarSync {
  /** Starts syncing the calendars of the accounts that this process owns. Call it before `ownership.start()`. */
  start(): void
  /** Call it before `ownership.stop()`. */
  stop(graceMs: number): Promise<void>
  /** Ends the push subscriptions of a deleted account; see `CalendarSubscriptions.end`. */
  endSubscriptions(accountId: string, findToken: () => Promise<string | undefined>): Promise<void>
}

/**
 * Runs beside mail sync: an account's calendars never wait for its messages. A run reads the calendars that nobody watches, those
 * with notified changes, and every ten minutes all of them. Then it renews the push subscriptions.
 */
export function calendarSync(deps: CalendarSyncDeps): CalendarSync {
  const { db, ownership, bus, clock, log } = deps
  const { pollMs, pushedMs, notifiedMs, concurrency, retry } = { ...TIMING, ...deps.timing }
  const subscriptions = calendarSubscriptions(deps)
  const scheduler = new OwnedScheduler({
    clock,
    log,
    operation: 'sync.calendars',
    concurrency,
    backoff: retry,
    run,
  })
  /** When accounts were last read, in monotonic time: all of their calendars, and any. Absent after a failure. */
  const reads = new Map<string, { allAt: number; lastAt: number }>()
  /** Accounts whose next run lists the calendars and reads every one. */
  const complete = new Set<string>()
  /** Those whose failing calendars are read at once: somebody asked for it, or the access changed. */
  const retried = new Set<string>()
  const failing = failingCalendars(deps, retry)
  let sweeping: Promise<void> | undefined
  let unsubscribe = () => {}
  let stopped = false

  async function run(accountId: string, { signal, failures }: RunContext): Promise<RunResult> {
    const epoch = ownership.owned().get(accountId)
    if (epoch === undefined || stopped || ownership.isPaused(accountId)) return {}
    const before = reads.get(accountId)
    const now = clock.monotonic()
    const isComplete = complete.has(accountId) || before === undefined || now - before.allAt >= pushedMs
    const allAt = isComplete ? now : before.allAt
    const waitMs = isComplete ? 0 : before.lastAt + notifiedMs - now
    if (waitMs > 0) return { nextRunInMs: waitMs }
    const isListed = complete.delete(accountId)
    const isRetried = retried.delete(accountId)
    reads.delete(accountId)
    const changed = { added: 0, updated: 0, deleted: 0 }
    let provider: ProviderName | undefined
    const about = () => ({
      accountId,
      provider,
      operation: 'sync.calendars',
      durationMs: clock.monotonic() - now,
    })
    try {
      const isQuiet = watched(await takeNotified(accountId, epoch))
      const { account } = await deps.accounts.getForSync(accountId)
      if (!maySync(account)) return {}
      const access = await deps.accounts.access(accountId)
      if (!(await mayHaveCalendars(account, access))) return {}
      const remote = deps.calendars(account.provider).open(access)
      provider = account.provider
      const onStored = ({ added, updated, deleted }: EventCounts) => {
        changed.added += added
        changed.updated += updated
        changed.deleted += deleted
      }
      const onUnreadable = (calendar: CalendarRow, events: readonly UnreadableEvent[]) =>
        reportUnreadable(calendar, events, about())
      const owned = { accountId, epoch, provider, remote, signal, onStored, onUnreadable }
      const calendars = await syncCalendars(deps, owned, {
        isDue(calendar) {
          if (calendar.failures > 0) return isRetried || !failing.isWaiting(calendar)
          return isComplete || !isQuiet(calendar)
        },
        isListed,
        onSynced: (calendar) => failing.recordSuccess(owned, calendar),
        onFailed: (calendar, error) => recordFailing(owned, calendar, error, about()),
      })
      const found = await subscriptions.ensure({ account, epoch, access }, calendars)
      reads.set(accountId, { allAt, lastAt: clock.monotonic() })
      const { added, updated, deleted } = changed
      if (added + updated + deleted > 0) {
        log.info(`Synced calendars: ${added} events added, ${updated} updated, ${deleted} deleted.`, {
          ...about(),
          metadata: changed,
        })
      }
      if (found.some(({ isNotified }) => isNotified === 1)) return { nextRunInMs: notifiedMs }
      const isPushed = calendars.length > 0 && calendars.every(watched(found))
      // The list of calendars itself is polled: few providers notify its changes.
      const untilAllMs = isPushed ? Math.max(notifiedMs, allAt + pushedMs - clock.monotonic()) : pollMs
      return { nextRunInMs: Math.min(untilAllMs, pollMs, untilRetryMs(calendars)) }
    } catch (error) {
      if (error instanceof OwnershipLost) return {}
      if (!(error instanceof ProviderError)) throw error
      // Mail sync reports refused credentials. A changed account runs again by itself.
      if (error.kind === 'auth_expired' || error.missingScope) return { failure: error }
      const pauseMs = Math.min(retry.capMs, retry.baseMs * 2 ** failures)
      const nextRunInMs = Math.max(pauseMs, error.retryAfterMs ?? 0)
      const level = failures === 0 ? 'warn' : 'info'
      log[level](
        `Cannot sync the calendars of the account (${error.message}); trying again in ${Math.ceil(nextRunInMs / 1000)} s.`,
        { ...about(), error, metadata: { attempts: failures + 1, nextRunInMs, kind: error.kind, ...changed } },
      )
      return { failure: error, nextRunInMs }
    }
  }

  /** Returns whether the other calendars may be read: where the account sent too many requests, they wait with it. */
  async function recordFailing(
    owned: OwnedCalendars,
    calendar: CalendarRow,
    error: ProviderError,
    about: object,
  ): Promise<boolean> {
    const { failures, pauseMs } = await failing.recordFailure(owned, calendar, error)
    if (error.kind === 'rate_limited') return false
    const { id, summary } = calendar
    const level = failures === 1 ? 'warn' : 'info'
    log[level](
      `Cannot sync the calendar "${summary}" (${error.message}); trying again in ${Math.ceil(pauseMs / 1000)} s.`,
      {
        ...about,
        error,
        metadata: { calendarId: id, attempts: failures, pauseMs, kind: error.kind },
      },
    )
    return true
  }

  function reportUnreadable({ id, summary }: CalendarRow, events: readonly UnreadableEvent[], about: object): void {
    for (const { eventId, reason } of events.slice(0, MAX_REPORTED)) {
      log.warn(`An event of the calendar "${summary}" cannot be read as it is: ${reason}`, {
        ...about,
        metadata: { calendarId: id, eventId },
      })
    }
    if (events.length <= MAX_REPORTED) return
    log.warn(`${events.length - MAX_REPORTED} more events of the calendar "${summary}" cannot be read as they are.`, {
      ...about,
      metadata: { calendarId: id },
    })
  }

  /** When the first failing calendar is read again. */
  function untilRetryMs(calendars: readonly CalendarRow[]): number {
    const waiting = calendars.filter((calendar) => failing.isWaiting(calendar))
    return Math.max(notifiedMs, Math.min(...waiting.map(({ retryAt }) => (retryAt ?? 0) - clock.now())))
  }

  /** The calendars of a mail server are looked for when they are first requested. */
  async function mayHaveCalendars({ id, provider }: Account, { settings }: MailAccess): Promise<boolean> {
    if (provider !== 'imap' || settings.caldav !== undefined) return true
    return (await calendarStore(deps.db.read).listedAt(id)) !== undefined
  }

  /** The subscriptions as they were; those with notified changes are no longer marked, because this run reads the changes. */
  async function takeNotified(accountId: string, epoch: number): Promise<CalendarSubscription[]> {
    const rows = await calendarSubscriptionStore(db.read).of(accountId)
    const notified = rows.filter(({ isNotified }) => isNotified === 1)
    if (notified.length === 0) return rows
    await db.transaction(async (tx) => {
      await deps.fence(tx, accountId, epoch)
      for (const row of notified) await calendarSubscriptionStore(tx).clearNotified(row)
    })
    return rows
  }

  /** Whether the provider would have notified a change of the calendar, and did not. */
  function watched(rows: readonly CalendarSubscription[]): (calendar: CalendarRow) => boolean {
    const quiet = rows.filter(({ expiresAt, isNotified }) => expiresAt > clock.now() && isNotified === 0)
    const ids = new Set(quiet.map(({ calendarId }) => calendarId))
    return ({ id }) => ids.has(id) || ids.has('')
  }

  function add(accountId: string): void {
    complete.add(accountId)
    scheduler.add(accountId, ownership.mailHost(accountId))
  }

  function remove(accountId: string): void {
    scheduler.remove(accountId)
    reads.delete(accountId)
    complete.delete(accountId)
    retried.delete(accountId)
    subscriptions.forget(accountId)
  }

  function onSyncHint(payload: string | undefined): void {
    if (payload === undefined) return
    const { scope, accountIds } = readSyncHint(payload)
    for (const id of accountIds) {
      if (!scheduler.has(id)) continue
      complete.add(id)
      if (scope === 'now') retried.add(id)
      scheduler.request(id)
    }
  }

  /** All calendars are read, also those that nobody notified, unless they were just now. */
  function onRefresh(accountId: string | undefined): void {
    if (accountId === undefined || !scheduler.has(accountId)) return
    const read = reads.get(accountId)
    if (read === undefined || clock.monotonic() - read.allAt < pollMs) return
    reads.set(accountId, { ...read, allAt: Number.NEGATIVE_INFINITY })
    scheduler.request(accountId)
  }

  function sweep(): void {
    if (stopped) return
    sweeping ??= runNotified()
      .catch((error: unknown) => {
        log.debug('Cannot read the notified changes of calendars; the next ownership round tries again.', {
          operation: 'push.sweep',
          error,
        })
      })
      .finally(() => {
        sweeping = undefined
      })
  }

  /** Runs accounts with notified changes whose hint was lost. After a failure the backoff says when to retry. */
  async function runNotified(): Promise<void> {
    for (const accountId of await calendarSubscriptionStore(db.read).notifiedAccounts()) {
      if (scheduler.state(accountId)?.attempts === 0) scheduler.request(accountId)
    }
  }

  return {
    start() {
      ownership.onChange(({ lost, gained, changed }) => {
        for (const accountId of lost) remove(accountId)
        if (stopped) return
        for (const accountId of [...gained, ...changed]) add(accountId)
        for (const accountId of changed) retried.add(accountId)
      })
      ownership.onRound(sweep)
      const unsubscribes = [
        bus.subscribe(SYNC_TOPIC, onSyncHint),
        bus.subscribe(CALENDAR_REFRESH_TOPIC, onRefresh),
        bus.subscribe(CALENDAR_CHANGES_TOPIC, (accountId) => {
          if (accountId === undefined) sweep()
          else scheduler.request(accountId)
        }),
      ]
      unsubscribe = () => {
        for (const end of unsubscribes) end()
      }
    },

    async stop(graceMs) {
      stopped = true
      unsubscribe()
      await Promise.all([scheduler.stop(Math.min(graceMs, MAX_GRACE_MS)), sweeping])
    },

    endSubscriptions: subscriptions.end,
  }
}

function maySync({ provider, paused, status, tokens }: Account): boolean {
  if (paused || status === 'auth_error') return false
  return !tokens.hasRefreshToken || missingFor(provider, tokens.scopes, ['calendar.read']).length === 0
}
