import { type Account, type Accounts, OwnershipLost } from '../../accounts/index.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { RunContext, RunResult } from '../../platform/schedule/index.ts'
import { type MailProvider, ProviderError } from '../../providers/contract/index.ts'
import type { FolderCounts } from '../labels/index.ts'
import type { AccountWork, Watch } from './account-work.ts'
import type { SyncDeps } from './deps.ts'
import { FolderWork } from './folders/account-work.ts'
import type { CheckTimes } from './health/check-times.ts'
import { AccountPauses } from './hosts/account-pauses.ts'
import type { HostCircuits } from './hosts/host-circuits.ts'
import type { LoginPace } from './hosts/login-pace.ts'
import { CONFIRMED, confirmationInMs, delayAfterRefusal, nextLoginInMs } from './hosts/refused-logins.ts'
import { MailboxWork } from './id-mailbox/account-work.ts'
import { RunLog } from './run-log.ts'
import { type AccountAtStart, RunRecord } from './run-record.ts'
import { RunResults } from './run-results.ts'
import { DEFAULT_TIMING, type SyncTiming } from './timing.ts'

type SyncScope = Parameters<Accounts['requestSync']>[2]

/**
 * Runs the syncs of one account while this process owns it. This class decides whether a run may connect, `AccountWork` syncs the
 * messages, and `RunResults` stores how the run ended and plans the next one. The scheduler makes one `run` call at a time; `close`
 * may be called at any moment, after which nothing is written.
 */
export class AccountSync {
  readonly epoch: number
  readonly #deps: SyncDeps
  readonly #timing: SyncTiming
  readonly #accountId: string
  readonly #pauses: AccountPauses
  readonly #closed = new AbortController()
  readonly #onChange: () => void
  readonly #record: RunRecord
  readonly #runLog: RunLog
  readonly #results: RunResults
  /** The pauses of an earlier process continue, or no longer apply. */
  #hasResumed = false
  #work: AccountWork | undefined
  #hasChanged = false
  /** A transaction of this run passed the fence. */
  #hasWritten = false
  /** When this process last had every folder in sync. Later than the stored time. */
  #syncedAt = 0
  #hintedScope: Exclude<SyncScope, 'now'> | undefined
  /** A person requested a sync, so the next run starts whatever pause applies. */
  #isUrgent = false
  #seenRequest: number | null = null

  readonly #times: CheckTimes

  /** Calls `onChange` when the mailbox changed and a run should follow. */
  constructor(
    deps: SyncDeps,
    { circuits, pace, times }: { circuits: HostCircuits; pace: LoginPace; times: CheckTimes },
    { accountId, epoch }: { accountId: string; epoch: number },
    onChange: () => void,
  ) {
    this.#times = times
    this.#deps = {
      ...deps,
      fence: (tx, id, under) => {
        this.#hasWritten = true
        times.progressed(accountId)
        return deps.fence(tx, id, under)
      },
    }
    this.#timing = { ...DEFAULT_TIMING, ...deps.timing }
    this.#accountId = accountId
    this.epoch = epoch
    this.#onChange = onChange
    this.#record = new RunRecord(this.#deps, accountId, epoch)
    this.#runLog = new RunLog(this.#deps, accountId)
    this.#pauses = new AccountPauses({
      clock: deps.clock,
      circuits,
      pace,
      timing: this.#timing,
      host: () => deps.ownership.mailHost(accountId),
    })
    this.#results = new RunResults({
      accountId,
      clock: deps.clock,
      timing: this.#timing,
      record: this.#record,
      runLog: this.#runLog,
      times,
      pauses: this.#pauses,
    })
  }

  /** How the account learns of changes now; undefined while it has no session. */
  get watch(): Watch | undefined {
    return this.#work?.watch
  }

  /** The account was paused or resumed, or its `watch` setting or credentials changed. */
  accountChanged(): void {
    this.#times.expect(this.#accountId)
    this.#results.accountChanged()
    this.#hasChanged = true
    this.#hasResumed = true
    this.#pauses.limits.reset()
    this.#work?.accessChanged()
    this.#work?.requestFullSync()
  }

  /** The stored status says since now that the account cannot be synced, although a run may be in progress. */
  markedStalled(): void {
    this.#results.markedStalled()
  }

  /** A client requested a sync. The request itself is a column of the account. */
  syncRequested(scope: SyncScope): void {
    this.#pauses.limits.end()
    if (scope === 'now') {
      this.#work?.reconnect()
      this.#startUrgently()
    }
    if (scope !== 'changes') this.#hintedScope = 'everything'
    else this.#hintedScope ??= scope
  }

  /** The account was changed since the last run began. */
  get hasChanged(): boolean {
    return this.#hasChanged
  }

  /** Its credentials were refused, so that all that a later run needs is stored. */
  get isRefused(): boolean {
    return this.#results.isRefused
  }

  /** Returns false when no run has begun since this request was made. */
  hasSeen(requestedAt: number): boolean {
    return this.#seenRequest === requestedAt
  }

  /** An operator requested a retry of every account. */
  retry(): void {
    this.#pauses.end()
    this.#pauses.limits.reset()
    this.#startUrgently()
    this.#work?.requestFullSync()
  }

  #startUrgently(): void {
    this.#isUrgent = true
    this.#work?.closeIfSilent(this.#closed.signal).catch((error: unknown) => {
      const about = { accountId: this.#accountId, operation: 'sync.account', error }
      this.#deps.log.debug('Cannot close a silent connection.', about)
    })
  }

  /** How long no run may start: the provider asked for a pause, the host is unreachable, or others log in there first. */
  heldMs(): number {
    if (this.#hasChanged || this.#isUrgent) return 0
    const isPaused = this.#deps.ownership.isPaused(this.#accountId)
    return this.#pauses.heldMs(this.#work, { isStalled: this.#results.isStalled, isPaused })
  }

  /** Closes the connections at once. A run in progress fails at its next step. */
  async close(): Promise<void> {
    this.#closed.abort(new Error('this process no longer owns the account'))
    await this.#work?.close()
  }

  /** Syncs the account. Failures of the provider are part of the result; anything else is thrown. */
  async run({ signal: runSignal, failures }: RunContext): Promise<RunResult> {
    const signal = AbortSignal.any([runSignal, this.#closed.signal])
    this.#runLog.begin()
    this.#hasChanged = this.#hasWritten = false
    const scope = this.#hintedScope
    this.#hintedScope = undefined
    const isUrgent = this.#isUrgent
    this.#isUrgent = false
    try {
      const { account, syncRequestedAt } = await this.#deps.accounts.getForSync(this.#accountId)
      this.#seenRequest = syncRequestedAt
      this.#runLog.provider = account.provider
      const mail = this.#deps.mail(account.provider)
      this.#results.begin(account)
      const isLoginDue = account.status !== 'auth_error' || mail?.kind === 'folders'
      if (account.paused || mail === undefined || !isLoginDue) {
        await this.#skip(mail, syncRequestedAt)
        // An account whose provider is not configured any more stalls.
        if (mail !== undefined) this.#times.suspend(this.#accountId)
        this.#runLog.report(account.status === 'auth_error' ? 'refused' : 'paused')
        return {}
      }
      const wait = this.#results.isRefused ? await this.#loginWait(mail, syncRequestedAt) : undefined
      if (wait !== undefined) return wait
      const pause = syncRequestedAt === null ? await this.#earlierPause(account) : undefined
      if (pause !== undefined) return pause
      this.#work ??= this.#createWork(mail)
      // A request whose hint was lost may have asked for a full sync.
      if (syncRequestedAt !== null && scope !== 'changes') this.#work.requestFullSync()
      if (isUrgent) {
        this.#work.endPause()
        this.#deps.accounts.endTokenPause(account)
      }
      const waitMs = isUrgent ? 0 : this.#pauses.unreachableMs(this.#work)
      if (waitMs > 0) return await this.#waitForHost(account, waitMs)
      return await this.#syncReachable({ account, syncRequestedAt }, this.#work, signal)
    } catch (error) {
      this.#work?.requestFullSync()
      if (!signal.aborted && !isNoLongerOurs(error)) {
        if (!(error instanceof ProviderError)) throw error
        await this.#work?.close()
        return this.#results.failed(error, failures, this.#work)
      }
      await this.#work?.close()
      return {}
    }
  }

  /** Continues the pause that an earlier process began. */
  async #earlierPause(account: Account): Promise<RunResult | undefined> {
    if (this.#hasResumed) return undefined
    const stored = await this.#record.stored()
    this.#hasResumed = true
    if (stored !== undefined) this.#pauses.limits.resume(stored, account.status === 'error')
    const confirmationMs = stored === undefined ? 0 : confirmationInMs(stored, this.#deps.clock.now())
    const nextRunInMs = Math.max(this.#pauses.limits.leftMs, confirmationMs)
    return nextRunInMs === 0 ? undefined : { failure: stored?.lastError, nextRunInMs }
  }

  /** Undefined when an account with refused credentials may log in again. */
  async #loginWait(mail: MailProvider, syncRequestedAt: number | null): Promise<RunResult | undefined> {
    const stored = await this.#record.stored()
    let nextRunInMs = nextLoginInMs(stored, this.#deps.clock.now())
    if (nextRunInMs === undefined) {
      const refusals = { count: CONFIRMED, accessVersion: stored?.refusedVersion ?? 0 }
      nextRunInMs = delayAfterRefusal(refusals, this.#timing.refusal)
      await this.#record.loginPlanned(refusals, nextRunInMs, stored)
    }
    if (nextRunInMs === 0) return undefined
    await this.#skip(mail, syncRequestedAt)
    this.#times.suspend(this.#accountId)
    this.#runLog.report('refused')
    return { failure: stored?.lastError ?? undefined, nextRunInMs }
  }

  #createWork(mail: MailProvider): AccountWork {
    const account = {
      accountId: this.#accountId,
      epoch: this.epoch,
      syncedAt: () => this.#syncedAt,
      onStored: (counts: FolderCounts) => this.#runLog.add(counts),
    }
    const onChange = () => {
      if (!this.#closed.signal.aborted) this.#onChange()
    }
    return mail.kind === 'folders'
      ? new FolderWork(this.#deps, this.#timing, account, mail, onChange)
      : new MailboxWork(this.#deps, this.#timing, account, mail)
  }

  /** Drops the request: the account can be synced only after a change, and every change starts a full sync. */
  async #skip(mail: MailProvider | undefined, syncRequestedAt: number | null): Promise<void> {
    await this.#work?.close()
    await mail?.closeConnections(this.#accountId)
    if (syncRequestedAt !== null) await this.#record.requestDropped(syncRequestedAt)
  }

  async #waitForHost(account: Account, waitMs: number): Promise<RunResult> {
    if (this.#pauses.isHostStalled) await this.#results.hostUnreachable(account)
    return { nextRunInMs: waitMs }
  }

  async #syncReachable(start: AccountAtStart, work: AccountWork, signal: AbortSignal): Promise<RunResult> {
    try {
      const result = await this.#sync(start, work, signal)
      this.#pauses.recordHost('succeeded')
      return result
    } catch (error) {
      const isUnreachable =
        !work.isOpen &&
        error instanceof ProviderError &&
        error.kind === 'unavailable' &&
        error.retryAfterMs === undefined
      this.#pauses.recordHost(isUnreachable && !signal.aborted ? 'unreachable' : 'failed')
      throw error
    }
  }

  async #sync(start: AccountAtStart, work: AccountWork, signal: AbortSignal): Promise<RunResult> {
    const { account } = start
    await work.open(account, signal)
    if (account.status === 'connecting') await this.#record.connected()
    const wasFullSync = await work.sync(account, signal)
    this.#pauses.end()
    const nextRunInMs = work.nextRunInMs(account)
    // A folder ended the connection. The next run goes on over another one.
    if (!work.isOpen) return { nextRunInMs }
    // The stall was stored during this run. One more run stores that the account recovered.
    const hasRecovered = this.#results.isStalled && account.status === 'connected'
    this.#times.succeeded(this.#accountId, nextRunInMs)
    if (wasFullSync && work.isInSync) this.#syncedAt = this.#deps.clock.now()
    if (work.failure === undefined) {
      const hasWritten = this.#hasWritten
      await this.#results.succeeded(start, { wasFullSync, hasWritten, isInSync: work.isInSync, nextRunInMs })
    } else {
      await this.#results.partlyFailed(start, work.failure, nextRunInMs)
    }
    if (!account.watch) {
      await work.close()
      work.requestFullSync()
    }
    return { nextRunInMs: hasRecovered ? 0 : nextRunInMs }
  }
}

/** Another process owns the account, or it was deleted. The scheduler calls `close` soon. */
function isNoLongerOurs(error: unknown): boolean {
  return error instanceof OwnershipLost || (error instanceof AppError && error.code === 'not_found')
}
