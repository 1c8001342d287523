import { type Account, type Accounts, OwnershipLost } from '../../accounts/index.ts'
import { backoffMs } from '../../platform/concurrency/retry.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { RunContext, RunResult } from '../../platform/schedule/index.ts'
import { type MailProvider, ProviderError } from '../../providers/contract/index.ts'
import type { FolderCounts } from '../labels/index.ts'
import { DEFAULT_TIMING, type SyncDeps, type SyncTiming } from './deps.ts'
import { FolderWork } from './folders/work.ts'
import type { CheckTimes } from './health/check-times.ts'
import type { HostCircuits } from './hosts/host-circuits.ts'
import { LimitPauses } from './hosts/limit-pauses.ts'
import type { LoginPace } from './hosts/login-pace.ts'
import {
  CONFIRMED,
  confirmationInMs,
  countRefusal,
  delayAfterRefusal,
  isConfirmed,
  nextLoginInMs,
  type Refusals,
} from './hosts/refused-logins.ts'
import { MailboxWork } from './mailbox/work.ts'
import { RunLog } from './run-log.ts'
import { type AccountAtStart, RunRecord } from './run-record.ts'
import type { AccountWork, Watch } from './work.ts'

type SyncScope = Parameters<Accounts['requestSync']>[2]

/** A reserved login may wait so long for a slot. */
const MISSED_LOGIN_MS = 1000

/**
 * Runs the syncs of one account while this process owns it. `AccountWork` syncs the messages; this class decides whether a run may
 * connect, handles its failures and plans the next one. The scheduler makes one `run` call at a time; `close` may be called at any
 * moment, after which nothing is written.
 */
export class AccountSync {
  readonly epoch: number
  readonly #deps: SyncDeps
  readonly #timing: SyncTiming
  readonly #accountId: string
  readonly #circuits: HostCircuits
  readonly #closed = new AbortController()
  readonly #onChange: () => void
  readonly #record: RunRecord
  readonly #runLog: RunLog
  /** While one lasts, what the server announces starts no run. */
  readonly #limitPauses: LimitPauses
  /** The pauses of an earlier process continue, or no longer apply. */
  #hasResumed = false
  #work: AccountWork | undefined
  /** Monotonic; the provider asked for no requests until then. */
  #pausedUntil = Number.NEGATIVE_INFINITY
  /** The stored status already says that the account cannot be synced. */
  #isStalled = false
  /** The status is `auth_error`. */
  #isRefused = false
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
  readonly #pace: LoginPace
  /** Monotonic; the moment reserved for the next login. */
  #loginAt: number | undefined

  /** Calls `onChange` when the mailbox changed and a run should follow. */
  constructor(
    deps: SyncDeps,
    { circuits, pace, times }: { circuits: HostCircuits; pace: LoginPace; times: CheckTimes },
    { accountId, epoch }: { accountId: string; epoch: number },
    onChange: () => void,
  ) {
    this.#times = times
    this.#pace = pace
    this.#deps = {
      ...deps,
      fence: (tx, id, under) => {
        this.#hasWritten = true
        times.progressed(accountId)
        return deps.fence(tx, id, under)
      },
    }
    this.#circuits = circuits
    this.#timing = { ...DEFAULT_TIMING, ...deps.timing }
    this.#accountId = accountId
    this.epoch = epoch
    this.#onChange = onChange
    this.#record = new RunRecord(this.#deps, accountId, epoch)
    this.#runLog = new RunLog(this.#deps, accountId)
    this.#limitPauses = new LimitPauses(deps.clock, this.#timing.limitRetry)
  }

  /** How the account learns of changes now; undefined while it has no session. */
  get watch(): Watch | undefined {
    return this.#work?.watch
  }

  /** The account was paused or resumed, or its `watch` setting or credentials changed. */
  accountChanged(): void {
    this.#times.expect(this.#accountId)
    this.#isStalled = false
    this.#hasChanged = true
    this.#hasResumed = true
    this.#limitPauses.reset()
    this.#work?.accessChanged()
    this.#work?.requestFullSync()
  }

  /** The stored status says since now that the account cannot be synced, although a run may be in progress. */
  markedStalled(): void {
    this.#isStalled = true
  }

  /** A client requested a sync. The request itself is a column of the account. */
  syncRequested(scope: SyncScope): void {
    this.#limitPauses.end()
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
    return this.#isRefused
  }

  /** Returns false when no run has begun since this request was made. */
  hasSeen(requestedAt: number): boolean {
    return this.#seenRequest === requestedAt
  }

  /** An operator requested a retry of every account. */
  retry(): void {
    this.#pausedUntil = Number.NEGATIVE_INFINITY
    this.#limitPauses.reset()
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
    if (this.#limitPauses.leftMs > 0) return this.#limitPauses.leftMs
    if (this.#pauseMs > 0) return this.#pauseMs
    const unreachableMs = this.#isStalled || !this.#isHostStalled ? this.#unreachableMs : 0
    return unreachableMs > 0 ? unreachableMs : this.#takeLogin()
  }

  /** 0 when the run may log in now, which uses the reserved moment, and when it needs no login. */
  #takeLogin(): number {
    if (this.#work?.isOpen === true || this.#deps.ownership.isPaused(this.#accountId)) return 0
    const nowMs = this.#deps.clock.monotonic()
    // A moment that passed long ago, because the host was unreachable, has passed for its other accounts too.
    const isMissed = this.#loginAt !== undefined && nowMs - this.#loginAt > MISSED_LOGIN_MS
    if (this.#loginAt === undefined || isMissed) this.#loginAt = this.#pace.reserve(this.#host)
    if (this.#loginAt > nowMs) return this.#loginAt - nowMs
    this.#loginAt = undefined
    return 0
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
      this.#isRefused = account.status === 'auth_error'
      const isLoginDue = account.status !== 'auth_error' || mail?.kind === 'folders'
      if (account.paused || mail === undefined || !isLoginDue) {
        await this.#skip(mail, syncRequestedAt)
        // An account whose provider is not configured any more stalls.
        if (mail !== undefined) this.#times.suspend(this.#accountId)
        this.#runLog.report(account.status === 'auth_error' ? 'refused' : 'paused')
        return {}
      }
      const wait = this.#isRefused ? await this.#loginWait(mail, syncRequestedAt) : undefined
      if (wait !== undefined) return wait
      const pause = syncRequestedAt === null ? await this.#earlierPause(account) : undefined
      if (pause !== undefined) return pause
      this.#work ??= this.#createWork(mail)
      // A request whose hint was lost may have asked for a full sync.
      if (syncRequestedAt !== null && scope !== 'changes') this.#work.requestFullSync()
      if (isUrgent) {
        this.#work.endPause()
        this.#deps.accounts.endTokenPause(this.#accountId)
      }
      const waitMs = isUrgent ? 0 : this.#unreachableMs
      if (waitMs > 0) return await this.#waitForHost(account, waitMs)
      return await this.#syncReachable({ account, syncRequestedAt }, this.#work, signal)
    } catch (error) {
      this.#work?.requestFullSync()
      if (!signal.aborted && !isNoLongerOurs(error)) return this.#failed(error, failures)
      await this.#work?.close()
      return {}
    }
  }

  /** Continues the pause that an earlier process began. */
  async #earlierPause(account: Account): Promise<RunResult | undefined> {
    if (this.#hasResumed) return undefined
    const stored = await this.#record.stored()
    this.#hasResumed = true
    if (stored !== undefined) this.#limitPauses.resume(stored, account.status === 'error')
    const confirmationMs = stored === undefined ? 0 : confirmationInMs(stored, this.#deps.clock.now())
    const nextRunInMs = Math.max(this.#limitPauses.leftMs, confirmationMs)
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
    if (this.#isHostStalled) {
      await this.#record.hostUnreachable(account)
      this.#isStalled = true
      this.#times.stored(this.#accountId)
    }
    return { nextRunInMs: waitMs }
  }

  async #syncReachable(start: AccountAtStart, work: AccountWork, signal: AbortSignal): Promise<RunResult> {
    try {
      const result = await this.#sync(start, work, signal)
      this.#circuits.record(this.#host, 'succeeded')
      return result
    } catch (error) {
      const isUnreachable =
        !work.isOpen &&
        error instanceof ProviderError &&
        error.kind === 'unavailable' &&
        error.retryAfterMs === undefined
      this.#circuits.record(this.#host, isUnreachable && !signal.aborted ? 'unreachable' : 'failed')
      throw error
    }
  }

  async #sync(start: AccountAtStart, work: AccountWork, signal: AbortSignal): Promise<RunResult> {
    const { account } = start
    await work.open(account, signal)
    if (account.status === 'connecting') await this.#record.connected()
    const wasFullSync = await work.sync(account, signal)
    this.#pausedUntil = Number.NEGATIVE_INFINITY
    const nextRunInMs = work.nextRunInMs(account)
    // A folder ended the connection. The next run goes on over another one.
    if (!work.isOpen) return { nextRunInMs }
    // The stall was stored during this run. One more run stores that the account recovered.
    const hasRecovered = this.#isStalled && account.status === 'connected'
    this.#times.succeeded(this.#accountId, nextRunInMs)
    if (wasFullSync && work.isInSync) this.#syncedAt = this.#deps.clock.now()
    if (work.failure !== undefined) await this.#recordPart(start, work.failure, nextRunInMs)
    else await this.#recordSuccess(start, { wasFullSync, isInSync: work.isInSync, nextRunInMs })
    if (!account.watch) {
      await work.close()
      work.requestFullSync()
    }
    return { nextRunInMs: hasRecovered ? 0 : nextRunInMs }
  }

  async #recordSuccess(
    start: AccountAtStart,
    { wasFullSync, ...run }: { wasFullSync: boolean; isInSync: boolean; nextRunInMs: number },
  ): Promise<void> {
    if (await this.#record.isSuccessDue(start, wasFullSync, this.#hasWritten)) {
      const { violations } = this.#limitPauses
      await this.#record.succeeded(start, { ...run, limitViolations: violations })
    }
    this.#isStalled = this.#isRefused = false
    this.#runLog.succeeded()
  }

  /** The inbox cannot be read, which the status says; the other folders are synced as usual. */
  async #recordPart(start: AccountAtStart, failure: ProviderError, nextRunInMs: number): Promise<void> {
    const { account, syncRequestedAt } = start
    if (syncRequestedAt !== null) await this.#record.requestDropped(syncRequestedAt)
    const wasStalled = this.#isStalled && account.status === 'error'
    this.#isStalled = true
    this.#times.stored(this.#accountId)
    if (wasStalled) return this.#runLog.succeeded()
    await this.#record.failed(failure, {
      attempts: 1,
      limitViolations: this.#limitPauses.violations,
      isRefused: false,
      isStalled: true,
      accessVersion: undefined,
      refusals: undefined,
      nextRunInMs,
    })
    this.#runLog.failed(failure, { attempts: 1, nextRunInMs, isRefused: false, isStalled: true, wasStalled })
  }

  /** Retries every failure except those that need a new consent: they wait for a change of the account. */
  async #failed(error: unknown, earlierFailures: number): Promise<RunResult> {
    if (!(error instanceof ProviderError)) throw error
    await this.#work?.close()
    const limitPauseMs = error.kind === 'limit_exceeded' ? this.#limitPauses.begin() : undefined
    const limitViolations = this.#limitPauses.violations
    const attempts = limitPauseMs === undefined ? earlierFailures + 1 : limitViolations
    const accessVersion = this.#work?.triedAccessVersion
    const refusals = await this.#refusals(error, accessVersion)
    // A stall was announced while this run went on: now its failure is the reason.
    const isAnnounced = this.#times.isStored(this.#accountId)
    const isLate = limitPauseMs !== undefined || attempts >= this.#timing.stalledAfter
    // One refusal for lack of a scope may be the provider's mistake.
    const isConsentRefused = (error.kind === 'auth_expired' && refusals === undefined) || (error.missingScope && isLate)
    const isRefused = isConsentRefused || (refusals !== undefined && isConfirmed(refusals))
    // Refused credentials stay so until a login succeeds, whatever fails meanwhile.
    const isStalled = (isLate || isAnnounced) && refusals === undefined && !this.#isRefused
    // An urgent run that failed leaves the pause in force.
    const retryInMs =
      refusals === undefined
        ? (limitPauseMs ?? Math.max(this.#retryInMs(error, attempts), this.#pauseMs))
        : delayAfterRefusal(refusals, this.#timing.refusal)
    const nextRunInMs = isConsentRefused ? undefined : retryInMs
    if (refusals !== undefined && !isRefused) this.#pausedUntil = this.#deps.clock.monotonic() + retryInMs
    await this.#record.failed(error, {
      attempts,
      limitViolations,
      isRefused,
      isStalled,
      accessVersion,
      refusals,
      nextRunInMs,
    })
    this.#runLog.failed(error, { attempts, nextRunInMs, isRefused, isStalled, wasStalled: this.#isStalled })
    this.#isStalled = isStalled
    this.#isRefused ||= isRefused
    if (isStalled) this.#times.stored(this.#accountId)
    if (isRefused) this.#times.suspend(this.#accountId)
    return { failure: error, ...(nextRunInMs !== undefined && { nextRunInMs }) }
  }

  /** Undefined when no login was refused, or when a refusal is certain. */
  async #refusals({ kind }: ProviderError, accessVersion: number | undefined): Promise<Refusals | undefined> {
    if (kind !== 'auth_expired' || accessVersion === undefined || this.#work?.repeatsRefusedLogins !== true)
      return undefined
    return countRefusal(await this.#record.stored(), accessVersion, this.#deps.clock.now())
  }

  #retryInMs(error: ProviderError, attempts: number): number {
    // 0: the provider named a date that, by our clock, has passed.
    const { retryAfterMs = 0 } = error
    const backoff = backoffMs(attempts, this.#timing.retry)
    if (retryAfterMs === 0) return backoff
    // A server that is only busy names no time, so that the pauses grow.
    const pauseMs = Math.max(retryAfterMs * (1 + 0.2 * Math.random()), error.busy ? backoff : 0)
    if (this.#work?.waitsOutPauses === true) this.#pausedUntil = this.#deps.clock.monotonic() + pauseMs
    return pauseMs
  }

  get #pauseMs(): number {
    return this.#pausedUntil - this.#deps.clock.monotonic()
  }

  get #isHostStalled(): boolean {
    return this.#circuits.failures(this.#host) >= this.#timing.stalledAfter
  }

  /** 0 while the session is open: it needs no new connection. */
  get #unreachableMs(): number {
    return this.#work === undefined || this.#work.isOpen ? 0 : this.#circuits.waitMs(this.#host)
  }

  get #host(): string {
    return this.#deps.ownership.mailHost(this.#accountId)
  }
}

/** Another process owns the account, or it was deleted. The scheduler calls `close` soon. */
function isNoLongerOurs(error: unknown): boolean {
  return error instanceof OwnershipLost || (error instanceof AppError && error.code === 'not_found')
}
