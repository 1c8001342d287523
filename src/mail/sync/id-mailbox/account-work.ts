import { type Account, type ApiChanges, findApiChanges } from '../../../accounts/index.ts'
import {
  ENTIRE_MAILBOX,
  type IdMailProvider,
  type MailAccess,
  type MailboxStep,
  ProviderError,
} from '../../../providers/contract/index.ts'
import type { AccountWork, Watch } from '../account-work.ts'
import type { OwnedAccount, SyncDeps } from '../deps.ts'
import { mailboxBodies } from '../event-bodies.ts'
import { type CursorRow, cursorStore } from '../store.ts'
import type { SyncTiming } from '../timing.ts'
import { FolderFailures, folderFailure, isOfAccount } from '../unreadable/folders.ts'
import { unreadableStore } from '../unreadable/store.ts'
import { MailboxListing, type OpenMailbox } from './listing.ts'
import { MissingMessages } from './missing.ts'
import { cursorIdOf, syncScope } from './sync.ts'
import { readAgain } from './unreadable.ts'

interface Open extends OpenMailbox {
  access: MailAccess & { accessVersion: number }
}

/** The next poll after a listed folder was not found, delayed in case the provider contradicts itself. */
const NOT_FOUND_RETRY_MS = 5_000
/** When so many folders in a row get no response, the others would only wait, too. */
const MAX_UNREACHABLE = 3

/**
 * Syncs mailboxes whose messages have provider ids, by polling: gmail (one scope), microsoft (one scope per folder).
 *
 *   list folders ──► sync each changed scope ──► delete messages that were missing before the last run and that the provider no longer has
 */
export class MailboxWork implements AccountWork {
  /** There is no connection to lose, so every failure belongs to a request. */
  readonly isOpen = true
  readonly waitsOutPauses = true
  readonly repeatsRefusedLogins = false
  readonly #deps: SyncDeps
  readonly #timing: SyncTiming
  readonly #account: Omit<OwnedAccount, 'provider'>
  readonly #mail: IdMailProvider
  #open: Open | undefined
  #accessChanged = false
  #triedAccessVersion: number | undefined
  /** Scopes that the last run could not sync and why, and scopes that it did not find. */
  readonly #failed = new Map<string, ProviderError>()
  readonly #notFound = new Set<string>()
  readonly #folders: FolderFailures
  /** When a message is next read again; null: there is none. */
  #againAt: number | null = null
  /** As the account was when the last sync began. */
  #isWatched = false
  readonly #listing: MailboxListing
  readonly #missing: MissingMessages

  constructor(deps: SyncDeps, timing: SyncTiming, account: Omit<OwnedAccount, 'provider'>, mail: IdMailProvider) {
    this.#deps = deps
    this.#timing = timing
    this.#account = account
    this.#mail = mail
    this.#folders = new FolderFailures(deps, account)
    this.#listing = new MailboxListing(deps, timing.foldersMs, this.#folders)
    this.#missing = new MissingMessages(deps, timing.moveGraceMs, this.#listing)
  }

  get watch(): Watch | undefined {
    if (this.#open === undefined) return undefined
    return this.#isWatched && this.#isPushed ? 'push' : 'poll'
  }

  get triedAccessVersion(): number | undefined {
    return this.#triedAccessVersion
  }

  get isInSync(): boolean {
    return this.#failed.size === 0
  }

  get failure(): ProviderError | undefined {
    for (const path of this.#failed.keys()) {
      const label = this.#listing.find(path)
      const reason = label?.role === 'inbox' ? this.#folders.reasonFor(label) : undefined
      if (reason !== undefined) return folderFailure(label?.name ?? '', reason)
    }
    return undefined
  }

  accessChanged(): void {
    this.#accessChanged = true
  }

  requestFullSync(): void {
    this.#listing.request()
  }

  endPause(): void {
    this.#folders.endPauses()
    this.#mail.endPause(this.#account.accountId)
  }

  reconnect(): void {}

  async closeIfSilent(): Promise<void> {}

  async open({ provider }: Account): Promise<void> {
    if (this.#open !== undefined && !this.#accessChanged) return
    this.#accessChanged = false
    const access = await this.#deps.accounts.access(this.#account.accountId)
    this.#triedAccessVersion = access.accessVersion
    if (this.#open?.access.accessVersion === access.accessVersion) return
    if (this.#open !== undefined) {
      await this.close()
      await this.#mail.closeConnections(this.#account.accountId)
    }
    this.#open = { session: this.#mail.openSession(access), access, context: { ...this.#account, provider } }
  }

  async sync({ watch }: Account, signal: AbortSignal): Promise<boolean> {
    const open = this.#open
    if (open === undefined) throw new ProviderError('unavailable', 'the mailbox was closed before its sync began')
    this.#isWatched = watch
    let succeeded = false
    try {
      await this.#syncAll(open, signal)
      succeeded = true
    } finally {
      this.#folders.ended(succeeded)
    }
    return true
  }

  async #syncAll(open: Open, signal: AbortSignal): Promise<void> {
    const startedAt = this.#deps.clock.now()
    this.#failed.clear()
    this.#notFound.clear()
    const apiChanges = await findApiChanges(this.#deps.db.read, open.context.accountId)
    await this.#listing.updateIfDue(open, apiChanges, signal)
    await this.#syncScopes(open, apiChanges, signal)
    const isComplete = this.#failed.size === 0 && this.#notFound.size === 0
    await this.#missing.delete(open, { startedAt, isComplete }, signal)
    await this.#readAgain(open, signal)
  }

  nextRunInMs({ watch }: Account): number {
    const pollMs = this.#pollMs(watch)
    const soonMs = Math.min(
      this.#missing.exist ? this.#timing.moveGraceMs : pollMs,
      this.#notFound.size > 0 ? NOT_FOUND_RETRY_MS : pollMs,
    )
    const nextMs = Math.min(soonMs, pollMs) * (0.9 + 0.2 * Math.random())
    const againAt = Math.min(this.#againAt ?? Number.POSITIVE_INFINITY, this.#failedAgainAt())
    return Math.min(nextMs, Math.max(0, againAt - this.#deps.clock.now()))
  }

  /** When a folder that the last run could not sync is tried again. Infinite: there is none. */
  #failedAgainAt(): number {
    const labels = [...this.#failed.keys()].flatMap((scope) => this.#listing.find(scope) ?? [])
    return Math.min(...labels.map((label) => this.#folders.nextAttemptAt(label)))
  }

  #pollMs(watch: boolean): number {
    if (!watch) return this.#timing.pollMs
    if (this.#isPushed) return this.#timing.pushedMs
    return this.#open?.session.pollIntervalMs ?? this.#timing.pollMs
  }

  get #isPushed(): boolean {
    return this.#deps.push?.isPushed(this.#account.accountId) === true && this.isInSync
  }

  async close(): Promise<void> {
    const open = this.#open
    this.#open = undefined
    await open?.session.close()
  }

  async #changedScopes(
    { session, context }: Open,
    scopes: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlySet<string>> {
    if (session.changedScopes === undefined) return new Set(scopes)
    const positions = await cursorStore(this.#deps.db.read).all(context.accountId)
    const states = scopes.map((scope) => {
      const position = positions.get(this.#findCursorId(context, scope))
      return { scope, cursor: position?.cursor ?? null, isUnfinished: position?.announceAfter != null }
    })
    const changed = await session.changedScopes(
      states.map(({ scope, cursor }) => ({ scope, cursor })),
      signal,
    )
    return new Set([...changed, ...states.filter((state) => state.isUnfinished).map((state) => state.scope)])
  }

  #findCursorId(context: OwnedAccount, scope: string): string {
    return cursorIdOf({ ...context, scope: this.#listing.find(scope) })
  }

  /** A folder that fails costs only itself, and is left out for longer and longer. */
  async #syncScopes(open: Open, apiChanges: ApiChanges, signal: AbortSignal): Promise<void> {
    await this.#folders.load()
    const paused = this.#pausedScopes()
    const scopes = this.#listing.scopes.filter((scope) => !paused.has(scope))
    const changed = await this.#changedScopes(open, scopes, signal)
    let unreachable = 0
    for (const scope of scopes) {
      if (!changed.has(scope)) continue
      await this.#syncOne(open, scope, apiChanges, signal)
      const failure = this.#failed.get(scope)
      unreachable = failure !== undefined && isUnreachable(failure) ? unreachable + 1 : 0
      if (unreachable === MAX_UNREACHABLE && failure !== undefined) throw failure
    }
    this.#throwIfNoneIsRead(scopes.length)
    // Not before: when the account fails, the fault is not that of its folders.
    for (const [scope, error] of this.#failed) await this.#countFailure(scope, error)
    for (const [scope, error] of paused) this.#failed.set(scope, error)
  }

  async #countFailure(scope: string, error: ProviderError): Promise<void> {
    const label = this.#listing.find(scope)
    if (label !== undefined) await this.#folders.failed(label, error)
  }

  /** None when all are paused: then the account fails, with pauses of its own. */
  #pausedScopes(): ReadonlyMap<string, ProviderError> {
    const paused = new Map<string, ProviderError>()
    for (const path of this.#listing.scopes) {
      const label = this.#listing.find(path)
      const reason = label && this.#folders.pauseReason(label)
      if (reason !== undefined) paused.set(path, new ProviderError('unavailable', reason))
    }
    return paused.size < this.#listing.scopes.length ? paused : new Map()
  }

  async #readAgain(open: Open, signal: AbortSignal): Promise<void> {
    const { session, context } = open
    const labels = (paths: readonly string[]) => this.#listing.labelsWith(open, paths, signal)
    await readAgain(this.#deps, { ...context, session, isOneScope: this.#listing.isOneScope, labels, signal })
    this.#againAt = await unreadableStore(this.#deps.db.read, context.accountId).nextAttemptAt('message')
  }

  async #syncOne(open: Open, path: string, apiChanges: ApiChanges, signal: AbortSignal): Promise<void> {
    const { session, context } = open
    const scope = this.#listing.find(path)
    if (path !== ENTIRE_MAILBOX && scope === undefined) return
    const bodies = (step: MailboxStep, position: CursorRow | undefined) =>
      mailboxBodies(this.#deps, this.#mail, open.access, step, position, this.#account.syncedAt())
    const labels = (paths: readonly string[]) => this.#listing.labelsWith(open, paths, signal)
    try {
      const exists = await syncScope(this.#deps, { ...context, session, scope, labels, bodies, apiChanges, signal })
      if (!exists) this.#notFound.add(path)
      if (scope !== undefined) await this.#folders.forget(scope)
    } catch (error) {
      const isOver = scope === undefined || signal.aborted
      if (isOver || !(error instanceof ProviderError) || isOfAccount(error)) throw error
      if (error.retryAfterMs !== undefined) {
        // The pause is that of the account. The next sync leaves the folder out if it fails each time.
        await this.#countFailure(path, error)
        throw error
      }
      this.#failed.set(path, error)
      this.#deps.log.warn('Cannot sync a folder; the other folders are synced.', {
        accountId: context.accountId,
        provider: context.provider,
        operation: 'sync.account',
        error,
        metadata: { labelId: scope.id },
      })
    }
  }

  /** No folder can be read at all, so that the account is not in sync, whatever its folders are refused for. */
  #throwIfNoneIsRead(tried: number): void {
    if (this.#listing.isOneScope || this.#failed.size + this.#notFound.size < tried) return
    const [failure] = this.#failed.values()
    throw failure ?? new ProviderError('unavailable', 'the provider lists folders and finds none of them')
  }
}

/** The request got no response. */
function isUnreachable({ timedOut, host }: ProviderError): boolean {
  return timedOut || host !== undefined
}
