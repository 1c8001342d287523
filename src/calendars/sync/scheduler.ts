import { type Ownership, readSyncHint, SYNC_TOPIC } from '../../accounts/index.ts'
import type { Bus } from '../../platform/bus/index.ts'
import { OwnedScheduler, type RunContext, type RunResult } from '../../platform/schedule/index.ts'
import { CALENDAR_REFRESH_TOPIC } from '../availability/refreshing.ts'
import { CALENDAR_CHANGES_TOPIC } from '../push/notifications.ts'
import { calendarSubscriptionStore } from '../push/store.ts'
import { type CalendarSubscriptionsDeps, calendarSubscriptions } from '../push/subscriptions.ts'
import { failingCalendars } from './failing-calendars.ts'
import type { AccountCalendarsDeps } from './owned-calendars.ts'
import { type RunDeps, runAccount } from './run.ts'
import { type CalendarTiming, DEFAULT_TIMING, RunPlans } from './run-plans.ts'

interface CalendarSyncDeps extends AccountCalendarsDeps, CalendarSubscriptionsDeps {
  bus: Bus
  accounts: RunDeps['accounts']
  ownership: Ownership
  timing?: Partial<CalendarTiming>
}

/** Runs in progress get this long to finish. An aborted run continues at its cursor. */
const MAX_GRACE_MS = 2000

interface CalendarSync {
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
  const timing = { ...DEFAULT_TIMING, ...deps.timing }
  const { concurrency, retry } = timing
  const subscriptions = calendarSubscriptions(deps)
  const plans = new RunPlans(timing)
  const runDeps: RunDeps = { ...deps, timing, plans, subscriptions, failing: failingCalendars(deps, retry) }
  const scheduler = new OwnedScheduler({
    clock,
    log,
    operation: 'sync.calendars',
    concurrency,
    backoff: retry,
    run,
  })
  let sweeping: Promise<void> | undefined
  let unsubscribe = () => {}
  let stopped = false

  async function run(accountId: string, { signal, failures }: RunContext): Promise<RunResult> {
    const epoch = ownership.owned().get(accountId)
    if (epoch === undefined || stopped || ownership.isPaused(accountId)) return {}
    const plan = plans.take(accountId, clock.monotonic())
    if ('waitMs' in plan) return { nextRunInMs: plan.waitMs }
    return runAccount(runDeps, { accountId, epoch, plan, signal, failures })
  }

  function add(accountId: string): void {
    plans.requestComplete(accountId)
    scheduler.add(accountId, ownership.mailHost(accountId))
  }

  function remove(accountId: string): void {
    scheduler.remove(accountId)
    plans.forget(accountId)
    subscriptions.forget(accountId)
  }

  function onSyncHint(payload: string | undefined): void {
    if (payload === undefined) return
    const { scope, accountIds } = readSyncHint(payload)
    for (const id of accountIds) {
      if (!scheduler.has(id)) continue
      plans.requestComplete(id)
      if (scope === 'now') plans.requestRetry(id)
      scheduler.request(id)
    }
  }

  /** All calendars are read, also those that nobody notified, unless they were just now. */
  function onRefresh(accountId: string | undefined): void {
    if (accountId === undefined || !scheduler.has(accountId)) return
    if (plans.requestRefresh(accountId, clock.monotonic())) scheduler.request(accountId)
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
        for (const accountId of changed) plans.requestRetry(accountId)
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
