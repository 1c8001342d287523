import {
  afterFailure,
  type CollectionNames,
  type FailingCollections,
  RunLog,
} from '../../accounts/collections/index.ts'
import type { Account, Accounts } from '../../accounts/index.ts'
import type { RunResult } from '../../platform/schedule/index.ts'
import { type MailAccess, missingFor } from '../../providers/contract/index.ts'
import { type CalendarSubscription, calendarSubscriptionStore } from '../push/store.ts'
import type { CalendarSubscriptions, CalendarSubscriptionsDeps } from '../push/subscriptions.ts'
import { type CalendarRow, calendarStore } from '../store.ts'
import { type DueCalendars, syncCalendars } from './account.ts'
import type { AccountCalendarsDeps, OwnedCalendars } from './owned-calendars.ts'
import type { CalendarTiming, RunPlan, RunPlans } from './run-plans.ts'

const NAMES: CollectionNames = {
  operation: 'sync.calendars',
  collection: 'calendar',
  collections: 'calendars',
  item: 'An event',
  items: 'events',
  collectionId: 'calendarId',
  itemId: 'eventId',
}

/** Shared by the runs of all accounts. */
export interface RunDeps extends AccountCalendarsDeps, Pick<CalendarSubscriptionsDeps, 'log' | 'calendars'> {
  accounts: Pick<Accounts, 'getForSync' | 'access'>
  timing: CalendarTiming
  plans: RunPlans
  failing: FailingCollections
  subscriptions: Pick<CalendarSubscriptions, 'ensure'>
}

export interface Run {
  accountId: string
  epoch: number
  plan: RunPlan
  signal: AbortSignal
  /** Failures in a row before this run. */
  failures: number
}

/** Syncs the calendars of an account that are due, then renews its push subscriptions. Says when it runs again. */
export async function runAccount(deps: RunDeps, run: Run): Promise<RunResult> {
  const runLog = new RunLog(deps, NAMES, run.accountId)
  try {
    return await readAccount(deps, run, runLog)
  } catch (error) {
    return afterFailure(error, runLog, run.failures, deps.timing.retry)
  }
}

async function readAccount(deps: RunDeps, run: Run, runLog: RunLog): Promise<RunResult> {
  const { accounts, clock, plans, subscriptions, timing } = deps
  const { accountId, epoch, plan, signal } = run
  const rows = await takeNotified(deps, run)
  const isQuiet = watched(rows, clock.now())
  const { account } = await accounts.getForSync(accountId)
  if (!maySync(account)) return {}
  const access = await accounts.access(accountId)
  if (!(await mayHaveCalendars(deps, account, access))) return {}
  const { provider } = account
  const remote = deps.calendars(provider).open(access)
  runLog.provider = provider
  const owned: OwnedCalendars = {
    accountId,
    epoch,
    provider,
    remote,
    signal,
    onStored: (counts) => runLog.add(counts),
    onUnreadable: ({ id, summary }, events) => runLog.unreadable({ id, name: summary }, events),
  }
  const calendars = await syncCalendars(deps, owned, dueCalendars(deps.failing, owned, plan, isQuiet, runLog))
  const found = await subscriptions.ensure({ account, epoch, access }, calendars)
  plans.recordRead(accountId, plan, clock.monotonic())
  runLog.succeeded()
  const { pollMs, pushedMs, notifiedMs } = timing
  if (found.some(({ isNotified }) => isNotified === 1)) return { nextRunInMs: notifiedMs }
  const isPushed = calendars.length > 0 && calendars.every(watched(found, clock.now()))
  // The list of calendars itself is polled: few providers notify its changes.
  const untilAllMs = isPushed ? Math.max(notifiedMs, plan.allAt + pushedMs - clock.monotonic()) : pollMs
  return { nextRunInMs: Math.min(untilAllMs, pollMs, untilRetryMs(deps, calendars)) }
}

function dueCalendars(
  failing: FailingCollections,
  owned: OwnedCalendars,
  { isComplete, isListed, isRetried }: RunPlan,
  isQuiet: (calendar: CalendarRow) => boolean,
  runLog: RunLog,
): DueCalendars {
  return {
    isDue(calendar) {
      if (calendar.failures > 0) return isRetried || !failing.isWaiting(calendar)
      return isComplete || !isQuiet(calendar)
    },
    isListed,
    onSynced: (calendar) => failing.recordSuccess(owned, calendar),
    async onFailed(calendar, error) {
      const failure = await failing.recordFailure(owned, calendar, error)
      // The account sent too many requests, so the other calendars wait with it.
      if (error.kind === 'rate_limited') return false
      runLog.collectionFailed({ id: calendar.id, name: calendar.summary }, error, failure)
      return true
    },
  }
}

/** When the first failing calendar is read again. */
function untilRetryMs({ clock, failing, timing }: RunDeps, calendars: readonly CalendarRow[]): number {
  const waiting = calendars.filter((calendar) => failing.isWaiting(calendar))
  return Math.max(timing.notifiedMs, Math.min(...waiting.map(({ retryAt }) => (retryAt ?? 0) - clock.now())))
}

function maySync({ provider, paused, status, tokens }: Account): boolean {
  if (paused || status === 'auth_error') return false
  return !tokens.hasRefreshToken || missingFor(provider, tokens.scopes, ['calendar.read']).length === 0
}

/** The calendars of a mail server are looked for when they are first requested. */
async function mayHaveCalendars(
  { db }: RunDeps,
  { id, provider }: Account,
  { settings }: MailAccess,
): Promise<boolean> {
  if (provider !== 'imap' || settings.caldav !== undefined) return true
  return (await calendarStore(db.read).listedAt(id)) !== undefined
}

/** The subscriptions as they were; those with notified changes are no longer marked, because this run reads the changes. */
async function takeNotified({ db, fence }: RunDeps, { accountId, epoch }: Run): Promise<CalendarSubscription[]> {
  const rows = await calendarSubscriptionStore(db.read).of(accountId)
  const notified = rows.filter(({ isNotified }) => isNotified === 1)
  if (notified.length === 0) return rows
  await db.transaction(async (tx) => {
    await fence(tx, accountId, epoch)
    for (const row of notified) await calendarSubscriptionStore(tx).clearNotified(row)
  })
  return rows
}

/** Whether the provider would have notified a change of the calendar, and did not. */
function watched(rows: readonly CalendarSubscription[], nowMs: number): (calendar: CalendarRow) => boolean {
  const quiet = rows.filter(({ expiresAt, isNotified }) => expiresAt > nowMs && isNotified === 0)
  const ids = new Set(quiet.map(({ calendarId }) => calendarId))
  return ({ id }) => ids.has(id) || ids.has('')
}
