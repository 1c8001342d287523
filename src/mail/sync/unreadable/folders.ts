import { ProviderError } from '../../../providers/contract/index.ts'
import type { LabelRow } from '../../labels/index.ts'
import type { OwnedAccount, SyncDeps } from '../deps.ts'
import { itemRetryPlan } from '../timing.ts'
import { countFailures, MAX_FAILURES, type UnreadableRow, unreadableStore } from './store.ts'

/** A folder is tried again within this time, because a message may arrive in it. */
const MAX_PAUSE_MS = 15 * 60_000

/** Failures that concern the account, not one folder. */
const OF_ACCOUNT: ReadonlySet<ProviderError['kind']> = new Set(['auth_expired', 'rate_limited', 'tls'])
/** Messages that are missing elsewhere may be in a folder that fails. After this time, they count as deleted all the same. */
const GIVEN_UP_MS = 60 * 60_000
/** After so many failed syncs of the account in a row, it was not the folders that failed. */
const OUTAGE_RUNS = 3

export function isOfAccount({ kind }: ProviderError): boolean {
  return OF_ACCOUNT.has(kind)
}

/** The failure of an account whose inbox cannot be read. */
export function folderFailure(folder: string, reason: string): ProviderError {
  return new ProviderError('unavailable', `The folder ${folder} cannot be read: ${reason}`)
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

  /** How often in a row the folder has failed. */
  count({ id }: Pick<LabelRow, 'id'>): number {
    return this.#rows?.get(id)?.failures ?? 0
  }

  /** Why the folder counts as one that cannot be read. */
  reasonFor({ id }: Pick<LabelRow, 'id'>): string | undefined {
    const row = this.#rows?.get(id)
    return row !== undefined && row.failures >= MAX_FAILURES ? row.reason : undefined
  }

  /** It has failed for so long that nothing waits for it any more. */
  isGivenUp({ id }: Pick<LabelRow, 'id'>): boolean {
    const row = this.#rows?.get(id)
    return row !== undefined && this.#deps.clock.now() - row.failedAt > GIVEN_UP_MS
  }

  async failed({ id }: Pick<LabelRow, 'id'>, { message }: ProviderError): Promise<void> {
    const { db, fence } = this.#deps
    const { accountId, epoch } = this.#account
    const { nowMs, backoff } = itemRetryPlan(this.#deps)
    const retry = { nowMs, backoff: { ...backoff, capMs: Math.min(backoff.capMs, MAX_PAUSE_MS) } }
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
