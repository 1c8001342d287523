import type { Account } from '../../accounts/index.ts'
import type { RunResult } from '../../platform/schedule/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { ProviderError } from '../../providers/contract/index.ts'
import type { AccountWork } from './account-work.ts'
import type { CheckTimes } from './health/check-times.ts'
import type { AccountPauses } from './hosts/account-pauses.ts'
import { countRefusal, delayAfterRefusal, isConfirmed, type Refusals } from './hosts/refused-logins.ts'
import type { RunLog } from './run-log.ts'
import type { AccountAtStart, RunRecord } from './run-record.ts'
import type { SyncTiming } from './timing.ts'

interface RunResultsDeps {
  accountId: string
  clock: Clock
  timing: SyncTiming
  record: RunRecord
  runLog: RunLog
  times: CheckTimes
  pauses: AccountPauses
}

/** Decides what the result of a run means for the status of the account and for the next run, and stores and logs it. */
export class RunResults {
  readonly #deps: RunResultsDeps
  /** The stored status already says that the account cannot be synced. */
  #isStalled = false
  /** The status is `auth_error`. */
  #isRefused = false

  constructor(deps: RunResultsDeps) {
    this.#deps = deps
  }

  get isStalled(): boolean {
    return this.#isStalled
  }

  get isRefused(): boolean {
    return this.#isRefused
  }

  /** A run begins with this account. */
  begin({ status }: Account): void {
    this.#isRefused = status === 'auth_error'
  }

  accountChanged(): void {
    this.#isStalled = false
  }

  /** The stored status says since now that the account cannot be synced. */
  markedStalled(): void {
    this.#isStalled = true
  }

  async hostUnreachable(account: Account): Promise<void> {
    await this.#deps.record.hostUnreachable(account)
    this.#isStalled = true
    this.#deps.times.stored(this.#deps.accountId)
  }

  async succeeded(
    start: AccountAtStart,
    {
      wasFullSync,
      hasWritten,
      ...run
    }: { wasFullSync: boolean; hasWritten: boolean; isInSync: boolean; nextRunInMs: number },
  ): Promise<void> {
    const { record, runLog, pauses } = this.#deps
    if (await record.isSuccessDue(start, wasFullSync, hasWritten)) {
      await record.succeeded(start, { ...run, limitViolations: pauses.limits.violations })
    }
    this.#isStalled = this.#isRefused = false
    runLog.succeeded()
  }

  /** The inbox cannot be read, which the status says; the other folders are synced as usual. */
  async partlyFailed(start: AccountAtStart, failure: ProviderError, nextRunInMs: number): Promise<void> {
    const { accountId, record, runLog, times, pauses } = this.#deps
    const { account, syncRequestedAt } = start
    if (syncRequestedAt !== null) await record.requestDropped(syncRequestedAt)
    const wasStalled = this.#isStalled && account.status === 'error'
    this.#isStalled = true
    times.stored(accountId)
    if (wasStalled) return runLog.succeeded()
    await record.failed(failure, {
      attempts: 1,
      limitViolations: pauses.limits.violations,
      isRefused: false,
      isStalled: true,
      accessVersion: undefined,
      refusals: undefined,
      nextRunInMs,
    })
    runLog.failed(failure, { attempts: 1, nextRunInMs, isRefused: false, isStalled: true, wasStalled })
  }

  /** Retries every failure except those that need a new consent: they wait for a change of the account. */
  async failed(error: ProviderError, earlierFailures: number, work: AccountWork | undefined): Promise<RunResult> {
    const { accountId, timing, record, runLog, times, pauses } = this.#deps
    const limitPauseMs = error.kind === 'limit_exceeded' ? pauses.limits.begin() : undefined
    const limitViolations = pauses.limits.violations
    const attempts = limitPauseMs === undefined ? earlierFailures + 1 : limitViolations
    const accessVersion = work?.triedAccessVersion
    const refusals = await this.#refusals(error, work)
    // A stall was announced while this run went on: now its failure is the reason.
    const isAnnounced = times.isStored(accountId)
    const isLate = limitPauseMs !== undefined || attempts >= timing.stalledAfter
    // One refusal for lack of a scope may be the provider's mistake.
    const isConsentRefused = (error.kind === 'auth_expired' && refusals === undefined) || (error.missingScope && isLate)
    const isRefused = isConsentRefused || (refusals !== undefined && isConfirmed(refusals))
    // Refused credentials stay so until a login succeeds, whatever fails meanwhile.
    const isStalled = (isLate || isAnnounced) && refusals === undefined && !this.#isRefused
    // An urgent run that failed leaves the pause in force.
    const retryInMs =
      refusals === undefined
        ? (limitPauseMs ?? Math.max(pauses.retryInMs(error, attempts, work), pauses.leftMs))
        : delayAfterRefusal(refusals, timing.refusal)
    const nextRunInMs = isConsentRefused ? undefined : retryInMs
    if (refusals !== undefined && !isRefused) pauses.begin(retryInMs)
    await record.failed(error, {
      attempts,
      limitViolations,
      isRefused,
      isStalled,
      accessVersion,
      refusals,
      nextRunInMs,
    })
    runLog.failed(error, { attempts, nextRunInMs, isRefused, isStalled, wasStalled: this.#isStalled })
    this.#isStalled = isStalled
    this.#isRefused ||= isRefused
    if (isStalled) times.stored(accountId)
    if (isRefused) times.suspend(accountId)
    return { failure: error, ...(nextRunInMs !== undefined && { nextRunInMs }) }
  }

  /** Undefined when no login was refused, or when a refusal is certain. */
  async #refusals({ kind }: ProviderError, work: AccountWork | undefined): Promise<Refusals | undefined> {
    const accessVersion = work?.triedAccessVersion
    if (kind !== 'auth_expired' || accessVersion === undefined || work?.repeatsRefusedLogins !== true) return undefined
    return countRefusal(await this.#deps.record.stored(), accessVersion, this.#deps.clock.now())
  }
}
