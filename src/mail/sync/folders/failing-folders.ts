import { ProviderError, type SuspectMessage } from '../../../providers/contract/index.ts'
import type { LabelRow } from '../../labels/index.ts'
import type { OwnedAccount, SyncDeps } from '../deps.ts'
import { FolderFailures, folderFailure } from '../unreadable/folders.ts'

/** An attempt to work on one folder. */
export interface Attempt {
  context: OwnedAccount
  label: LabelRow
  /** The synced folders. */
  folders: readonly LabelRow[]
  signal: AbortSignal
  /** Whether the sync connection has ended. */
  isOver(): boolean
}

/**
 * Lets a folder that fails cost only itself. Knows which folders failed since the last full sync began, or are left out for now because they
 * failed again and again, and the message that is to blame.
 */
export class FolderAttempts {
  readonly #deps: SyncDeps
  /** Failures that survive restarts. */
  readonly #stored: FolderFailures
  /** The folders that failed, or that are left out, by id. */
  readonly #failed = new Map<string, ProviderError>()
  /** The message that is being fetched by itself, because the connection may end with it. */
  #suspect: SuspectMessage | undefined

  constructor(deps: SyncDeps, account: Pick<OwnedAccount, 'accountId' | 'epoch'>) {
    this.#deps = deps
    this.#stored = new FolderFailures(deps, account)
  }

  get hasFailed(): boolean {
    return this.#failed.size > 0
  }

  load(): Promise<void> {
    return this.#stored.load()
  }

  /** A full sync begins: every folder may be tried. */
  restart(): void {
    this.#failed.clear()
  }

  /** A sync of the account has ended. */
  ended(succeeded: boolean): void {
    this.#stored.ended(succeeded)
  }

  /** The next sync tries every folder. */
  endPauses(): void {
    this.#stored.endPauses()
  }

  /** Forgets folders that are no longer listed. */
  keepOnly(labelIds: ReadonlySet<string>): Promise<void> {
    return this.#stored.keepOnly(labelIds)
  }

  findFailure({ id }: LabelRow): ProviderError | undefined {
    return this.#failed.get(id)
  }

  /** Why the folder has failed for so long that the account shows it. */
  findLastingFailure(label: LabelRow): ProviderError | undefined {
    const reason = this.#failed.has(label.id) ? this.#stored.reasonFor(label) : undefined
    return reason === undefined ? undefined : folderFailure(label.name, reason)
  }

  /** How often in a row the folder has failed. */
  countLosses(label: LabelRow): number {
    return this.#stored.count(label)
  }

  /** True for a folder that is left out for now, because it has failed again and again. None is left out when all have. */
  leavesOut(label: LabelRow, folders: readonly LabelRow[]): boolean {
    const reason = this.#stored.pauseReason(label)
    if (reason === undefined) return false
    if (folders.every((one) => this.#stored.pauseReason(one) !== undefined)) return false
    this.#failed.set(label.id, new ProviderError('unavailable', reason))
    return true
  }

  /** When a folder that failed is tried again. Infinite: there is none. */
  nextAttemptAt(folders: readonly LabelRow[]): number {
    const failed = folders.filter(({ id }) => this.#failed.has(id))
    return Math.min(...failed.map((label) => this.#stored.nextAttemptAt(label)))
  }

  isDueAgain(label: LabelRow): boolean {
    return this.nextAttemptAt([label]) <= this.#deps.clock.now()
  }

  /** A folder that cannot be read may contain messages that are missing elsewhere, until it has failed for long. */
  mayContainMissing(folders: readonly LabelRow[]): boolean {
    return folders.some((label) => this.#failed.has(label.id) && !this.#stored.isGivenUp(label))
  }

  /** No folder can be read at all, so that the account is not in sync, whatever its folders are refused for. */
  throwIfNoneIsRead(folders: readonly LabelRow[]): void {
    const [failure] = this.#failed.values()
    if (failure !== undefined && folders.every(({ id }) => this.#failed.has(id))) throw failure
  }

  /** A message is fetched by itself and may fail; undefined: it was read. */
  suspect(message: SuspectMessage | undefined): void {
    this.#suspect = message
  }

  /** The folder was synced. */
  async succeeded(label: LabelRow): Promise<void> {
    this.#failed.delete(label.id)
    await this.#stored.forget(label)
  }

  /**
   * Runs work on one folder. The server may refuse it, or end the connection with it: that costs only this folder, or the message that was
   * fetched by itself. Returns `repeat` for a folder that is to be synced again at once. Throws what concerns the entire account.
   */
  async run(attempt: Attempt, work: () => Promise<void>): Promise<'done' | 'repeat'> {
    const { context, label, signal } = attempt
    this.#suspect = undefined
    try {
      await work()
      return 'done'
    } catch (error) {
      if (signal.aborted || !(error instanceof ProviderError) || isOfAccount(error, label)) throw error
      const next = await this.#record(attempt, error)
      this.#deps.log.warn('Cannot sync a folder. The other folders are synced.', {
        accountId: context.accountId,
        provider: context.provider,
        operation: 'sync.account',
        error,
        metadata: { labelId: label.id },
      })
      return next
    }
  }

  async #record({ label, folders, isOver }: Attempt, error: ProviderError): Promise<'done' | 'repeat'> {
    this.#failed.set(label.id, error)
    if (error.kind === 'rate_limited') {
      await this.#stored.failed(label, error)
      return 'done'
    }
    const isLost = isOver() || isLostConnection(error)
    // The message is at fault, and is passed from now on.
    if (isLost && this.#suspect?.isReading) await this.#stored.forget(label)
    else await this.#stored.failed(label, error)
    if (this.leavesOut(label, folders)) return 'done'
    if (isLost && this.#stored.reasonFor(label) !== undefined) throw error
    // Fewer messages are fetched at once.
    return isLost ? 'repeat' : 'done'
  }
}

/** Failures that concern the account, not one folder. */
function isOfAccount({ kind }: ProviderError, label: LabelRow): boolean {
  return ['auth_expired', 'limit_exceeded', 'tls'].includes(kind) || (kind === 'rate_limited' && isMain(label))
}

/** True when the connection for requests is lost. */
function isLostConnection({ kind, busy, timedOut }: ProviderError): boolean {
  return kind === 'unavailable' && !busy && !timedOut
}

/** True for the folder that the account is for. */
export function isMain(label: LabelRow): boolean {
  return label.syncedAs?.startsWith('main:') === true
}
