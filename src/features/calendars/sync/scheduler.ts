import type { Bus } from '../../../infra/bus/index.ts'
import type { Log } from '../../../infra/log/index.ts'
import type { Backoff } from '../../../lib/retry.ts'
import {
  type CalendarProvider,
  type MailAccess,
  missingFor,
  ProviderError,
  type ProviderName,
} from '../../../providers/contract/index.ts'
import {
  type Account,
  type Accounts,
  OwnedScheduler,
  type Ownership,
  OwnershipLost,
  type RunContext,
  type RunResult,
  readSyncHint,
  SYNC_TOPIC,
} from '../../accounts/index.ts'
import { calendarStore } from '../store.ts'
import { type AccountCalendarsDeps, syncCalendars } from './account.ts'

export interface CalendarSyncDeps extends AccountCalendarsDeps {
  bus: Bus
  log: Log
  accounts: Pick<Accounts, 'getForSync' | 'access'>
  ownership: Ownership
  calendars(provider: ProviderName): CalendarProvider
  timing?: Partial<CalendarTiming>
}

export interface CalendarTiming {
  pollMs: number
  /** How many accounts one process syncs at once. */
  concurrency: number
  retry: Backoff
}

const TIMING: CalendarTiming = { pollMs: 60_000, concurrency: 16, retry: { baseMs: 5000, capMs: 600_000 } }
/** Runs in progress get this long to finish. An aborted run continues at its cursor. */
const MAX_GRACE_MS = 2000

export interface CalendarSync {
  /** Starts syncing the calendars of the accounts that this process owns. Call it before `ownership.start()`. */
  start(): void
  /** Call it before `ownership.stop()`. */
  stop(graceMs: number): Promise<void>
}

/** Runs beside mail sync: an account's calendars never wait for its messages. */
export function calendarSync(deps: CalendarSyncDeps): CalendarSync {
  const { ownership, bus, clock, log } = deps
  const { pollMs, concurrency, retry } = { ...TIMING, ...deps.timing }
  const scheduler = new OwnedScheduler({
    ...{ clock, log, operation: 'sync.calendars', concurrency, backoff: retry, run },
  })
  let unsubscribe = () => {}
  let stopped = false

  async function run(accountId: string, { signal, failures }: RunContext): Promise<RunResult> {
    const epoch = ownership.owned().get(accountId)
    if (epoch === undefined || stopped) return {}
    try {
      const { account } = await deps.accounts.getForSync(accountId)
      const access = await deps.accounts.access(accountId)
      if (!maySync(account) || !(await mayHaveCalendars(account, access))) return {}
      const remote = deps.calendars(account.provider).open(access)
      await syncCalendars(deps, { accountId, epoch, provider: account.provider, remote, signal })
      return { nextRunInMs: pollMs }
    } catch (error) {
      if (error instanceof OwnershipLost) return {}
      if (!(error instanceof ProviderError)) throw error
      // Mail sync reports refused credentials. A changed account runs again by itself.
      if (error.kind === 'auth_expired' || error.missingScope) return { failure: error }
      if (failures === 0)
        log.warn('The calendars of an account could not be synced; trying again.', about(accountId, error))
      const pauseMs = Math.min(retry.capMs, retry.baseMs * 2 ** failures)
      return { failure: error, nextRunInMs: Math.max(pauseMs, error.retryAfterMs ?? 0) }
    }
  }

  /** The calendars of a mail server are looked for when they are first requested. */
  async function mayHaveCalendars({ id, provider }: Account, { settings }: MailAccess): Promise<boolean> {
    if (provider !== 'imap' || settings.caldav !== undefined) return true
    return (await calendarStore(deps.db.read).listedAt(id)) !== undefined
  }

  return {
    start() {
      const add = (accountId: string) => scheduler.add(accountId, ownership.mailHost(accountId))
      ownership.onChange(({ lost, gained, changed }) => {
        for (const accountId of lost) scheduler.remove(accountId)
        if (!stopped) for (const accountId of [...gained, ...changed]) add(accountId)
      })
      unsubscribe = bus.subscribe(SYNC_TOPIC, (payload) => {
        if (payload !== undefined) for (const id of readSyncHint(payload).accountIds) scheduler.request(id)
      })
      for (const accountId of ownership.owned().keys()) add(accountId)
    },

    async stop(graceMs) {
      stopped = true
      unsubscribe()
      await scheduler.stop(Math.min(graceMs, MAX_GRACE_MS))
    },
  }
}

function maySync({ provider, paused, status, tokens }: Account): boolean {
  if (paused || status === 'auth_error') return false
  return !tokens.hasRefreshToken || missingFor(provider, tokens.scopes, ['calendar.read']).length === 0
}

function about(accountId: string, error: ProviderError) {
  return { accountId, operation: 'sync.calendars', error }
}
