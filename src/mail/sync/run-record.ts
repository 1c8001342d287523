import type { Account, Accounts } from '../../accounts/index.ts'
import type { Tx } from '../../platform/db/index.ts'
import { errorText } from '../../platform/schedule/index.ts'
import type { ProviderError } from '../../providers/contract/index.ts'
import type { SyncDeps } from './deps.ts'
import type { Refusals } from './hosts/refused-logins.ts'
import { cursorStore, type SyncStateRow, syncStateStore } from './store.ts'

/** Polls that find nothing write nothing, so the stored `lastSyncAt` may be old, but by less than an hour. */
const RECORD_EVERY_MS = 45 * 60_000

/** The account as it was when the run began. */
export interface AccountAtStart {
  account: Account
  syncRequestedAt: number | null
}

/** Stores the results of the runs of one account: status, `lastSyncAt`, served requests, failures. Every write is fenced. */
export class RunRecord {
  readonly #deps: SyncDeps
  readonly #accountId: string
  readonly #epoch: number
  /** Whether the stored state may show failures; undefined before the first read. */
  #hasStoredFailures: boolean | undefined

  constructor(deps: SyncDeps, accountId: string, epoch: number) {
    this.#deps = deps
    this.#accountId = accountId
    this.#epoch = epoch
  }

  /** Reads the state that an earlier run stored, in this process or another. */
  stored(): Promise<SyncStateRow | undefined> {
    return syncStateStore(this.#deps.db.read).find(this.#accountId)
  }

  /** The first connection of a new account succeeded. */
  async connected(): Promise<void> {
    await this.#write((tx) => this.#setStatus(tx, 'syncing', null))
  }

  async requestDropped(syncRequestedAt: number): Promise<void> {
    await this.#write((tx) => this.#deps.accounts.clearSyncRequest(tx, this.#accountId, syncRequestedAt))
  }

  /** Plans a login of an account whose credentials were refused. */
  async loginPlanned(refusals: Refusals, nextRunInMs: number, stored: SyncStateRow | undefined): Promise<void> {
    const { attempts = 0, limitViolations = 0, lastError = null } = stored ?? {}
    await this.#write((tx) => this.#saveState(tx, { attempts, limitViolations, lastError, nextRunInMs, refusals }))
  }

  async hostUnreachable({ status }: Account): Promise<void> {
    if (status === 'error' || status === 'auth_error') return
    await this.#write((tx) => this.#setStatus(tx, 'error', 'the mail server cannot be reached'))
  }

  /** A poll that found nothing is not stored, except now and then for `lastSyncAt`. */
  async isSuccessDue(
    { account, syncRequestedAt }: AccountAtStart,
    wasFullSync: boolean,
    hasWritten: boolean,
  ): Promise<boolean> {
    if (account.status !== 'connected' || syncRequestedAt !== null) return true
    this.#hasStoredFailures ??= ((await this.stored())?.attempts ?? 0) > 0
    if (this.#hasStoredFailures) return true
    const recordedAt = account.lastSyncAt === null ? 0 : Date.parse(account.lastSyncAt)
    return wasFullSync && (hasWritten || this.#deps.clock.now() - recordedAt > RECORD_EVERY_MS)
  }

  async succeeded(
    { account, syncRequestedAt }: AccountAtStart,
    { isInSync, ...state }: { isInSync: boolean; nextRunInMs: number; limitViolations: number },
  ): Promise<void> {
    const { accounts, clock } = this.#deps
    await this.#write(async (tx) => {
      if (isInSync) await cursorStore(tx).markSynced(this.#accountId, clock.now())
      await accounts.synced(tx, this.#accountId)
      if (account.status !== 'connected') await this.#setStatus(tx, 'connected', null)
      if (syncRequestedAt !== null) await accounts.clearSyncRequest(tx, this.#accountId, syncRequestedAt)
      await this.#saveState(tx, { ...state, attempts: 0, lastError: null, refusals: { count: 0, accessVersion: null } })
    })
    this.#hasStoredFailures = false
  }

  /** `accessVersion`: the credentials that the run used. Newer ones are not marked as refused. */
  async failed(
    error: ProviderError,
    run: {
      attempts: number
      limitViolations: number
      /** Only the user can help, by new credentials or a new consent. */
      isRefused: boolean
      isStalled: boolean
      accessVersion: number | undefined
      /** Absent: the login was not refused. */
      refusals: Refusals | undefined
      nextRunInMs: number | undefined
    },
  ): Promise<void> {
    const { attempts, limitViolations, refusals, nextRunInMs } = run
    this.#hasStoredFailures = true
    await this.#write(async (tx) => {
      if (run.isRefused) await this.#setStatus(tx, 'auth_error', error.message, run.accessVersion)
      else if (run.isStalled) await this.#setStatus(tx, 'error', error.message)
      await this.#saveState(tx, { attempts, limitViolations, lastError: errorText(error), nextRunInMs, refusals })
    })
  }

  async #write(change: (tx: Tx) => Promise<void>): Promise<void> {
    await this.#deps.db.transaction(async (tx) => {
      await this.#deps.fence(tx, this.#accountId, this.#epoch)
      await change(tx)
    })
  }

  async #saveState(
    tx: Tx,
    {
      nextRunInMs,
      refusals,
      ...state
    }: Pick<SyncStateRow, 'attempts' | 'lastError' | 'limitViolations'> & {
      nextRunInMs: number | undefined
      refusals?: { count: number; accessVersion: number | null } | undefined
    },
  ): Promise<void> {
    const now = this.#deps.clock.now()
    const nextRunAt = nextRunInMs === undefined ? null : Math.round(now + nextRunInMs)
    const columns = { accountId: this.#accountId, ...state, lastRunAt: now, nextRunAt }
    const refused = refusals && { refusals: refusals.count, refusedVersion: refusals.accessVersion }
    await syncStateStore(tx).save({ ...columns, ...refused })
  }

  #setStatus(
    tx: Tx,
    status: Parameters<Accounts['setStatus']>[2],
    reason: string | null,
    accessVersion?: number,
  ): Promise<void> {
    return this.#deps.accounts.setStatus(tx, this.#accountId, status, reason, accessVersion)
  }
}
