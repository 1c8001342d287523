import type { Tx } from '../../infra/db/index.ts'
import { AppError } from '../../lib/errors.ts'
import { backoffMs } from '../../lib/retry.ts'
import { type MailProvider, ProviderError } from '../../providers/contract/index.ts'
import {
  type Account,
  errorText,
  OwnershipLost,
  type RunContext,
  type RunResult,
  type SyncScope,
  type WorkStatus,
} from '../accounts/index.ts'
import { DEFAULT_TIMING, type SyncDeps, type SyncTiming } from './deps.ts'
import { FolderWork } from './folders/work.ts'
import type { HostCircuits } from './host-circuits.ts'
import { MailboxWork } from './mailbox/work.ts'
import { cursorStore, syncStateStore } from './store.ts'
import type { AccountWork } from './work.ts'

/** Polls that found nothing write nothing, so the stored `lastSyncAt` may be old; with the longest poll, by less than an hour. */
const RECORD_EVERY_MS = 45 * 60_000

/**
 * One account while this process owns it: its status, its failures, and when it runs next; how its messages are synced is its
 * `AccountWork`. The scheduler calls `run` once at a time; `close` may be called at any moment, and then nothing more is written.
 */
export class AccountSync {
  readonly epoch: number
  readonly #deps: SyncDeps
  readonly #timing: SyncTiming
  readonly #accountId: string
  readonly #circuits: HostCircuits
  readonly #closed = new AbortController()
  readonly #onChange: () => void
  #work: AccountWork | undefined
  /** Monotonic; the provider asked for no requests until then. */
  #restUntil = Number.NEGATIVE_INFINITY
  /** The stored status says already that the account cannot be synced. */
  #isStalled = false
  #hasChanged = false
  /** Some transaction of this run passed the fence. */
  #hasWritten = false
  /** When every folder was last in sync, by this process; later than what is stored. */
  #syncedAt = 0
  #hintedScope: SyncScope | undefined
  #seenRequest: number | null = null
  /** Whether the stored state of the runs may show failures. */
  #storedFailures: boolean | undefined

  /** `onChange` is called when the mailbox changed and a run should follow. */
  constructor(
    deps: SyncDeps,
    circuits: HostCircuits,
    { accountId, epoch }: { accountId: string; epoch: number },
    onChange: () => void,
  ) {
    this.#deps = {
      ...deps,
      fence: (tx, id, under) => {
        this.#hasWritten = true
        return deps.fence(tx, id, under)
      },
    }
    this.#circuits = circuits
    this.#timing = { ...DEFAULT_TIMING, ...deps.timing }
    this.#accountId = accountId
    this.epoch = epoch
    this.#onChange = onChange
  }

  /** The account was paused, resumed, watched otherwise or given new credentials. */
  accountChanged(): void {
    this.#isStalled = false
    this.#hasChanged = true
    this.#work?.accessChanged()
    this.requestFullSync()
  }

  /** A sync was requested; the request itself is in the account's row. */
  requested(scope: SyncScope): void {
    if (scope === 'everything' || this.#hintedScope === undefined) this.#hintedScope = scope
  }

  /** False when no run has begun since this request was made. */
  hasSeen(requestedAt: number): boolean {
    return this.#seenRequest === requestedAt
  }

  /** The next run checks the whole mailbox. */
  requestFullSync(): void {
    this.#work?.requestFullSync()
  }

  /** An operator wants it retried now, whatever the provider asked for. */
  retry(): void {
    this.#restUntil = Number.NEGATIVE_INFINITY
    this.requestFullSync()
  }

  /** How long a run would be pointless: while the provider asked for a pause, or the host cannot be reached. */
  heldMs(): number {
    if (this.#hasChanged) return 0
    const restMs = this.#restUntil - this.#deps.clock.monotonic()
    if (restMs > 0) return restMs
    return this.#isStalled || !this.#mustReportStall ? this.#unreachableMs : 0
  }

  /** Closes connections at once; a run under way fails at its next step. */
  async close(): Promise<void> {
    this.#closed.abort(new Error('this process no longer owns the account'))
    await this.#work?.close()
  }

  /** Syncs the account. Throws what is unexpected; failures of the provider are part of the result. */
  async run({ signal: runSignal, failures }: RunContext): Promise<RunResult> {
    const signal = AbortSignal.any([runSignal, this.#closed.signal])
    this.#hasChanged = this.#hasWritten = false
    const scope = this.#hintedScope
    this.#hintedScope = undefined
    try {
      const { account, syncRequestedAt } = await this.#deps.accounts.getForSync(this.#accountId)
      this.#seenRequest = syncRequestedAt
      const mail = this.#deps.mail(account.provider)
      if (account.paused || account.status === 'auth_error' || mail === undefined) {
        await this.#rest(mail, syncRequestedAt)
        return {}
      }
      this.#work ??= this.#workOf(mail)
      // A request whose hint was lost may have been about everything.
      if (syncRequestedAt !== null && scope !== 'changes') this.requestFullSync()
      return await this.#admitted({ account, syncRequestedAt }, this.#work, signal)
    } catch (error) {
      this.requestFullSync()
      if (!signal.aborted && !isNoLongerOurs(error)) return this.#failed(error, failures)
      await this.#work?.close()
      return {}
    }
  }

  #workOf(mail: MailProvider): AccountWork {
    const account = { accountId: this.#accountId, epoch: this.epoch, syncedAt: () => this.#syncedAt }
    return mail.kind === 'folders'
      ? new FolderWork(this.#deps, this.#timing, account, mail, () => this.#mailboxChanged())
      : new MailboxWork(this.#deps, this.#timing, account, mail)
  }

  /** Nothing to sync until somebody changes the account, which syncs everything: a request is served by that. */
  async #rest(mail: MailProvider | undefined, syncRequestedAt: number | null): Promise<void> {
    await this.#work?.close()
    await mail?.closeConnections(this.#accountId)
    if (syncRequestedAt === null) return
    await this.#write((tx) => this.#deps.accounts.clearSyncRequest(tx, this.#accountId, syncRequestedAt))
  }

  /** Connects only while the host can be reached, and records whether it could. */
  async #admitted(read: Read, work: AccountWork, signal: AbortSignal): Promise<RunResult> {
    const waitMs = this.#unreachableMs
    if (waitMs > 0) {
      if (this.#mustReportStall) await this.#reportStall(read.account)
      return { nextRunInMs: waitMs }
    }
    try {
      const result = await this.#sync(read, work, signal)
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

  async #sync(read: Read, work: AccountWork, signal: AbortSignal): Promise<RunResult> {
    const { account } = read
    await work.open(account, signal)
    if (account.status === 'connecting') await this.#write((tx) => this.#setStatus(tx, 'syncing', null))
    const everything = await work.sync(account, signal)
    const nextRunInMs = work.nextRunInMs(account)
    if (everything && work.isInSync) this.#syncedAt = this.#deps.clock.now()
    if (await this.#mustRecord(read, everything)) await this.#record(read, work, nextRunInMs)
    this.#isStalled = false
    if (!account.watch) {
      await work.close()
      this.requestFullSync()
    }
    return { nextRunInMs }
  }

  /** A poll that found nothing new writes nothing, but for the rare update of `lastSyncAt`. */
  async #mustRecord({ account, syncRequestedAt }: Read, everything: boolean): Promise<boolean> {
    if (account.status !== 'connected' || syncRequestedAt !== null) return true
    this.#storedFailures ??= ((await syncStateStore(this.#deps.db.read).find(this.#accountId))?.attempts ?? 0) > 0
    if (this.#storedFailures) return true
    const recordedAt = account.lastSyncAt === null ? 0 : Date.parse(account.lastSyncAt)
    return everything && (this.#hasWritten || this.#deps.clock.now() - recordedAt > RECORD_EVERY_MS)
  }

  async #record({ account, syncRequestedAt }: Read, work: AccountWork, nextRunInMs: number): Promise<void> {
    const { accounts, clock } = this.#deps
    await this.#write(async (tx) => {
      if (work.isInSync) await cursorStore(tx).markSynced(this.#accountId, clock.now())
      await accounts.synced(tx, this.#accountId)
      if (account.status !== 'connected') await this.#setStatus(tx, 'connected', null)
      if (syncRequestedAt !== null) await accounts.clearSyncRequest(tx, this.#accountId, syncRequestedAt)
      await this.#saveState(tx, { attempts: 0, lastError: null, nextRunInMs })
    })
    this.#storedFailures = false
  }

  /** Wrong credentials are never tried again without a change; every other failure is retried, and announced when it lasts. */
  async #failed(error: unknown, earlierFailures: number): Promise<RunResult> {
    if (!(error instanceof ProviderError)) throw error
    await this.#work?.close()
    const attempts = earlierFailures + 1
    const nextRunInMs = this.#retryInMs(error, attempts)
    this.#storedFailures = true
    await this.#write(async (tx) => {
      if (error.kind === 'auth_expired') {
        await this.#setStatus(tx, 'auth_error', error.message, this.#work?.triedAccessVersion)
      } else if (attempts >= this.#timing.stalledAfter) {
        await this.#setStatus(tx, 'error', error.message)
      }
      await this.#saveState(tx, { attempts, lastError: errorText(error), nextRunInMs })
    })
    this.#isStalled = attempts >= this.#timing.stalledAfter
    this.#deps.log.debug('The sync of an account failed.', {
      ...{ accountId: this.#accountId, operation: 'sync.account', error },
      metadata: { attempts, nextRunInMs },
    })
    return { failure: error, ...(nextRunInMs !== undefined && { nextRunInMs }) }
  }

  #retryInMs(error: ProviderError, attempts: number): number | undefined {
    if (error.kind === 'auth_expired') return undefined
    // Clocks differ: a date that has passed here is no pause.
    const { retryAfterMs = 0 } = error
    if (retryAfterMs === 0) return backoffMs(attempts, this.#timing.retry)
    const pauseMs = retryAfterMs * (1 + 0.2 * Math.random())
    const isResting = error.kind === 'rate_limited' && this.#work?.waitsOutRateLimits === true
    if (isResting) this.#restUntil = this.#deps.clock.monotonic() + pauseMs
    return pauseMs
  }

  async #reportStall(account: Account): Promise<void> {
    if (account.status !== 'error') {
      await this.#write((tx) => this.#setStatus(tx, 'error', 'the mail server cannot be reached'))
    }
    this.#isStalled = true
  }

  get #mustReportStall(): boolean {
    return this.#circuits.failures(this.#host) >= this.#timing.stalledAfter
  }

  /** An open session needs no connection. */
  get #unreachableMs(): number {
    return this.#work === undefined || this.#work.isOpen ? 0 : this.#circuits.waitMs(this.#host)
  }

  get #host(): string {
    return this.#deps.ownership.mailHost(this.#accountId)
  }

  async #write(work: (tx: Tx) => Promise<void>): Promise<void> {
    await this.#deps.db.transaction(async (tx) => {
      await this.#deps.fence(tx, this.#accountId, this.epoch)
      await work(tx)
    })
  }

  async #saveState(
    tx: Tx,
    state: { attempts: number; lastError: string | null; nextRunInMs: number | undefined },
  ): Promise<void> {
    const { attempts, lastError, nextRunInMs } = state
    const now = this.#deps.clock.now()
    const nextRunAt = nextRunInMs === undefined ? null : Math.round(now + nextRunInMs)
    await syncStateStore(tx).save({ accountId: this.#accountId, attempts, lastRunAt: now, nextRunAt, lastError })
  }

  #setStatus(tx: Tx, status: WorkStatus, reason: string | null, accessVersion?: number): Promise<void> {
    return this.#deps.accounts.setStatus(tx, this.#accountId, status, reason, accessVersion)
  }

  #mailboxChanged(): void {
    if (!this.#closed.signal.aborted) this.#onChange()
  }
}

/** The account as it was when the run began. */
interface Read {
  account: Account
  syncRequestedAt: number | null
}

/** Taken over by another process, or deleted: `close` follows soon. */
function isNoLongerOurs(error: unknown): boolean {
  return error instanceof OwnershipLost || (error instanceof AppError && error.code === 'not_found')
}
