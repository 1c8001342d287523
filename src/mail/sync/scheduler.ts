import { accountQueries, readSyncHint, SYNC_TOPIC, type SyncTotals } from '../../accounts/index.ts'
import { OwnedScheduler, type RunContext, type RunResult, type RunState } from '../../platform/schedule/index.ts'
import { AccountSync } from './account-sync.ts'
import type { Watch } from './account-work.ts'
import type { SyncDeps } from './deps.ts'
import { CheckTimes } from './health/check-times.ts'
import { StallWatch } from './health/stall-watch.ts'
import { HostCircuits } from './hosts/host-circuits.ts'
import { LoginPace } from './hosts/login-pace.ts'
import { DEFAULT_TIMING } from './timing.ts'

export interface Sync {
  /** Starts syncing the accounts that this process owns. Call it before `ownership.start()`. */
  start(): void
  /** Closes every session. Runs in progress get `graceMs`, 2 s at most, to finish. Call it before `ownership.stop()`. */
  stop(graceMs: number): Promise<void>
  /** State of an account's runs; undefined when another process owns it. */
  state(accountId: string): RunState | undefined
  /** Totals of this process. */
  totals(): SyncTotals
  /** How an account learns of changes now. Undefined while it has no session, and for other processes' accounts. */
  watch(accountId: string): Watch | undefined
  /** How long the check of an account is overdue, 0 while it is on time. Null while no check is expected, and for other processes' accounts. */
  lagMs(accountId: string): number | null
  /** The accounts of this process without a successful check in three intervals, and how long a check is overdue at most. */
  lag(): { stalledAccounts: number; greatestLagMs: number }
}

/** Enough for most runs. An aborted run continues at its cursor, here or on another replica. */
const MAX_GRACE_MS = 2000

/** Bus topic. Every process resets failures and delays and syncs all its accounts. */
export const RETRY_TOPIC = 'sync.retry'

/**
 * Syncs the owned accounts. An account runs when this process gains it, when it changes, when its poll is due, when its provider
 * reports a change and when a sync is requested. A request is a column of the account plus a bus message that may be lost.
 */
export function sync(deps: SyncDeps): Sync {
  const { ownership, db, bus, clock, log } = deps
  const timing = { ...DEFAULT_TIMING, ...deps.timing }
  const { concurrency, perHostShare, retry, stalledAfterMs } = timing
  const circuits = new HostCircuits(clock)
  const pace = new LoginPace(clock, timing)
  const times = new CheckTimes(clock, stalledAfterMs)
  const syncs = new Map<string, AccountSync>()
  const scheduler = new OwnedScheduler({
    clock,
    log,
    operation: 'sync.account',
    concurrency,
    backoff: retry,
    run,
    perGroup: Math.max(1, Math.floor(concurrency * perHostShare)),
    heldMs: (accountId) => find(accountId)?.heldMs() ?? 0,
  })
  const stalls = new StallWatch({
    ...deps,
    times,
    stalledAfterMs,
    state: (accountId) => scheduler.state(accountId),
    onStalled: restart,
  })
  let sweeping: Promise<void> | undefined
  let unsubscribe = () => {}
  let stopped = false

  async function run(accountId: string, context: RunContext): Promise<RunResult> {
    const epoch = ownership.owned().get(accountId)
    if (epoch === undefined || stopped) {
      await drop(accountId)
      return {}
    }
    let account = syncs.get(accountId)
    if (account !== undefined && account.epoch !== epoch) {
      await drop(accountId)
      account = undefined
    }
    account ??= create(accountId, epoch)
    const result = await account.run(context)
    // It is paused, or its credentials were refused. Thousands of such accounts must cost little memory.
    const isIdle = account.isRefused || (result.nextRunInMs === undefined && result.failure === undefined)
    if (isIdle && !account.hasChanged) await drop(accountId)
    return result
  }

  function create(accountId: string, epoch: number): AccountSync {
    const account = new AccountSync(deps, { circuits, pace, times }, { accountId, epoch }, () =>
      scheduler.request(accountId),
    )
    syncs.set(accountId, account)
    return account
  }

  function find(accountId: string): AccountSync | undefined {
    const epoch = ownership.owned().get(accountId)
    return epoch === undefined || stopped ? undefined : (syncs.get(accountId) ?? create(accountId, epoch))
  }

  async function drop(accountId: string): Promise<void> {
    const account = syncs.get(accountId)
    syncs.delete(accountId)
    await account?.close()
  }

  function add(accountId: string): void {
    scheduler.add(accountId, ownership.mailHost(accountId))
  }

  function remove(accountId: string): void {
    scheduler.remove(accountId)
    void drop(accountId)
  }

  /** Whatever made the scheduler forget the account, it runs again. A run in progress goes on. */
  function restart(accountId: string): void {
    syncs.get(accountId)?.markedStalled()
    if (!scheduler.has(accountId)) add(accountId)
    else if (scheduler.state(accountId)?.state === 'idle') scheduler.request(accountId)
  }

  const totals = () => ({ ...scheduler.totals(), greatestLagMs: times.summary().greatestLagMs })

  function onHint(payload: string | undefined): void {
    if (payload === undefined) {
      // The bus reconnected and may have lost hints.
      sweep()
      return
    }
    const { scope, accountIds } = readSyncHint(payload)
    for (const accountId of accountIds) {
      if (!scheduler.has(accountId)) continue
      syncs.get(accountId)?.syncRequested(scope)
      scheduler.request(accountId)
    }
  }

  function sweep(): void {
    if (stopped) return
    sweeping ??= runRequested()
      .catch((error: unknown) => {
        log.debug('Cannot read the requested syncs. The next ownership round tries again.', {
          operation: 'sync.sweep',
          error,
        })
      })
      .finally(() => {
        sweeping = undefined
      })
  }

  /** Runs requests whose hint was lost. */
  async function runRequested(): Promise<void> {
    for (const [accountId, requestedAt] of await accountQueries(db.read).requestedSyncs(ownership.instanceId)) {
      // A run that has seen the request and failed retries it itself.
      const account = syncs.get(accountId)
      if (account?.hasSeen(requestedAt) === true) continue
      account?.syncRequested('everything')
      scheduler.request(accountId)
    }
  }

  function retryAll(): void {
    circuits.reset()
    for (const account of syncs.values()) account.retry()
    void scheduler.retryAll()
  }

  return {
    start() {
      ownership.onChange(({ lost, gained, changed }) => {
        for (const accountId of lost) {
          times.forget(accountId)
          remove(accountId)
        }
        for (const accountId of gained) times.expect(accountId)
        if (stopped) return
        for (const accountId of changed) find(accountId)?.accountChanged()
        for (const accountId of [...gained, ...changed]) add(accountId)
      })
      ownership.onRound(sweep)
      ownership.onRound(() => {
        pace.sweep()
        if (!stopped) stalls.sweep()
      })
      ownership.reportSyncTotals(totals)
      deps.push?.onSyncNeeded((accountId) => scheduler.request(accountId))
      const stopHints = bus.subscribe(SYNC_TOPIC, onHint)
      const stopRetries = bus.subscribe(RETRY_TOPIC, retryAll)
      unsubscribe = () => {
        stopHints()
        stopRetries()
      }
    },

    async stop(graceMs) {
      stopped = true
      unsubscribe()
      await Promise.all([scheduler.stop(Math.min(graceMs, MAX_GRACE_MS)), sweeping, stalls.stop()])
      await Promise.all([...syncs.keys()].map(drop))
    },

    state: (accountId) => scheduler.state(accountId),
    totals,
    watch: (accountId) => syncs.get(accountId)?.watch,
    lagMs: (accountId) => times.lagMs(accountId),
    lag: () => times.summary(),
  }
}
