import type { ProviderError } from '../../../providers/contract/index.ts'
import type { LabelRow } from '../../labels/index.ts'
import { DEFAULT_TIMING, type OwnedAccount, type SyncDeps } from '../deps.ts'
import { countFailures, MAX_FAILURES, type UnreadableRow, unreadableStore } from './store.ts'

/** A folder is tried again within this time, because a message may arrive in it. */
const MAX_PAUSE_MS = 15 * 60_000

/** Failures that concern the account, not one folder. */
const OF_ACCOUNT: ReadonlySet<ProviderError['kind']> = new Set(['auth_expired', 'rate_limited', 'tls'])
/** After so many failed syncs of the account in a row, it was not the folders that failed. */
const OUTAGE_RUNS = 3

export function isOfAccount({ kind }: ProviderError): boolean {
  return OF_ACCOUNT.has(kind)
}

/** The folders of an account that cannot be synced. Their failures are stored, so that they survive sessions and restarts. */
export class FolderFailures {
  readonly #deps: SyncDeps
  readonly #account: Pick<OwnedAccount, 'accountId' | 'epoch'>
  /** By label id. Undefined before the first read. */
  #rows: Map<string, UnreadableRow> | undefined
  #ignoresPauses = false
  #failedRuns = 0

  constructor(deps: SyncDeps, account: Pick<OwnedAccount, 'accountId' | 'epoch'>) {
    this.#deps = deps
    this.#account = account
  }

  /** Only the owner of the account writes the rows, so that they are read once. */
  async load(): Promise<void> {
    if (this.#rows !== undefined) return
    const rows = await unreadableStore(this.#deps.db.read, this.#account.accountId).all('folder')
    this.#rows = new Map(rows.map((row) => [row.itemId, row]))
  }

  /** The next sync tries every folder. */
  endPauses(): void {
    this.#ignoresPauses = true
  }

  /** A sync of the account has ended. The one after an outage tries every folder. */
  ended(succeeded: boolean): void {
    this.#ignoresPauses = succeeded && this.#failedRuns >= OUTAGE_RUNS
    this.#failedRuns = succeeded ? 0 : this.#failedRuns + 1
  }

  /** Why the folder is left out for now. Undefined: it may be synced. */
  pauseReason({ id }: Pick<LabelRow, 'id'>): string | undefined {
    const row = this.#rows?.get(id)
    const isPaused = row !== undefined && row.failures >= MAX_FAILURES && row.nextAttemptAt > this.#deps.clock.now()
    return isPaused && !this.#ignoresPauses ? row.reason : undefined
  }

  /** Infinite when the folder has not failed. */
  nextAttemptAt({ id }: Pick<LabelRow, 'id'>): number {
    return this.#rows?.get(id)?.nextAttemptAt ?? Number.POSITIVE_INFINITY
  }

  async failed({ id }: Pick<LabelRow, 'id'>, { message }: ProviderError): Promise<void> {
    const { db, clock, timing, fence } = this.#deps
    const { accountId, epoch } = this.#account
    const { baseMs, capMs } = timing?.itemRetry ?? DEFAULT_TIMING.itemRetry
    const retry = { nowMs: clock.now(), backoff: { baseMs, capMs: Math.min(capMs, MAX_PAUSE_MS) } }
    const [row] = await db.transaction(async (tx) => {
      await fence(tx, accountId, epoch)
      return countFailures(tx, accountId, 'folder', [{ itemId: id, reason: message }], retry)
    })
    if (row !== undefined) this.#rows?.set(id, row)
  }

  /** The folder was synced, or no longer exists. */
  async forget({ id }: Pick<LabelRow, 'id'>): Promise<void> {
    if (this.#rows?.has(id) !== true) return
    const { db, fence } = this.#deps
    const { accountId, epoch } = this.#account
    await db.transaction(async (tx) => {
      await fence(tx, accountId, epoch)
      await unreadableStore(tx, accountId).remove('folder', [id])
    })
    this.#rows.delete(id)
  }

  /** Forgets folders that are no longer listed. */
  async keepOnly(labelIds: ReadonlySet<string>): Promise<void> {
    for (const id of this.#rows?.keys() ?? []) if (!labelIds.has(id)) await this.forget({ id })
  }
}
