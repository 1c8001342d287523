import { type Account, type ApiChanges, findApiChanges } from '../../../accounts/index.ts'
import {
  ENTIRE_MAILBOX,
  type IdMailProvider,
  type MailAccess,
  type MailboxSession,
  type MailboxStep,
  ProviderError,
  type RemoteFolder,
} from '../../../providers/contract/index.ts'
import { type LabelRow, labelStore, planFolders } from '../../labels/index.ts'
import { type MessageRow, messageStore } from '../../messages/index.ts'
import type { OwnedAccount, SyncDeps, SyncTiming } from '../deps.ts'
import { mailboxBodies } from '../event-bodies.ts'
import { storeFolders } from '../folder-listing.ts'
import { deleteFolder, deleteMissing } from '../folders/deletion.ts'
import { type CursorRow, cursorStore } from '../store.ts'
import { FolderFailures, folderFailure, isOfAccount } from '../unreadable/folders.ts'
import { unreadableStore } from '../unreadable/store.ts'
import type { AccountWork, Watch } from '../work.ts'
import { deleteLabel } from './deletion.ts'
import { findExisting } from './found-again.ts'
import { cursorIdOf, syncScope } from './sync.ts'
import { readAgain } from './unreadable.ts'

interface Open {
  session: MailboxSession
  access: MailAccess & { accessVersion: number }
  context: OwnedAccount
}

/** Requested listings of the folders are at least this far apart. */
const LISTING_GAP_MS = 10_000
/** The next poll after a listed folder was not found, delayed in case the provider contradicts itself. */
const NOT_FOUND_RETRY_MS = 5_000
/** How many missing messages a run reads to find one that the provider was not asked for. */
const MAX_MISSING = 200
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
  /** The labels of the last listing, by provider id. */
  #labels: ReadonlyMap<string, LabelRow> = new Map()
  #scopes: readonly string[] = []
  /** Monotonic. */
  #listedAt = Number.NEGATIVE_INFINITY
  /** The number of the last change of folders through the API before the last listing. */
  #listedChange = 0
  #isListingRequested = false
  /** Label ids that messages carry and the last listing did not contain. */
  readonly #unknown = new Set<string>()
  /** Scopes that the last run could not sync and why, and scopes that it did not find. */
  readonly #failed = new Map<string, ProviderError>()
  readonly #notFound = new Set<string>()
  readonly #folders: FolderFailures
  /** When a message is next read again; null: there is none. */
  #againAt: number | null = null
  #hasMissing = false
  /** As the account was when the last sync began. */
  #isWatched = false
  /** When the last complete sync of every folder began. */
  #lastFullSyncAt = 0
  /** Deleted folders whose messages may still be found in other folders. */
  #deletedFolders: readonly LabelRow[] = []

  constructor(deps: SyncDeps, timing: SyncTiming, account: Omit<OwnedAccount, 'provider'>, mail: IdMailProvider) {
    this.#deps = deps
    this.#timing = timing
    this.#account = account
    this.#mail = mail
    this.#folders = new FolderFailures(deps, account)
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
      const label = this.#labels.get(path)
      const reason = label?.role === 'inbox' ? this.#folders.reasonFor(label) : undefined
      if (reason !== undefined) return folderFailure(label?.name ?? '', reason)
    }
    return undefined
  }

  accessChanged(): void {
    this.#accessChanged = true
  }

  requestFullSync(): void {
    this.#isListingRequested = true
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
    if (this.#isListingDue || apiChanges.latestFolder > this.#listedChange) await this.#list(open, signal)
    await this.#syncScopes(open, apiChanges, signal)
    await this.#deleteMissing(open, startedAt, signal)
    await this.#readAgain(open, signal)
  }

  nextRunInMs({ watch }: Account): number {
    const pollMs = this.#pollMs(watch)
    const soonMs = Math.min(
      this.#hasMissing ? this.#timing.moveGraceMs : pollMs,
      this.#notFound.size > 0 ? NOT_FOUND_RETRY_MS : pollMs,
    )
    const nextMs = Math.min(soonMs, pollMs) * (0.9 + 0.2 * Math.random())
    const againAt = Math.min(this.#againAt ?? Number.POSITIVE_INFINITY, this.#failedAgainAt())
    return Math.min(nextMs, Math.max(0, againAt - this.#deps.clock.now()))
  }

  /** When a folder that the last run could not sync is tried again. Infinite: there is none. */
  #failedAgainAt(): number {
    const labels = [...this.#failed.keys()].flatMap((scope) => this.#labels.get(scope) ?? [])
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

  get #isOneScope(): boolean {
    return this.#scopes.includes(ENTIRE_MAILBOX)
  }

  /** Always due when each folder is a scope: the messages of an unknown folder would be missed. */
  get #isListingDue(): boolean {
    const sinceMs = this.#deps.clock.monotonic() - this.#listedAt
    if (!this.#isOneScope || sinceMs >= this.#timing.foldersMs) return true
    return this.#isListingRequested && sinceMs >= LISTING_GAP_MS
  }

  /** Updates the labels: new, renamed and deleted ones. */
  async #list(open: Open, signal: AbortSignal): Promise<void> {
    const { session, context } = open
    const listedAt = this.#deps.clock.monotonic()
    const apiChanges = await findApiChanges(this.#deps.db.read, context.accountId)
    const labels = labelStore(this.#deps.db.read)
    const listKnown = async () => (await labels.all(context.accountId)).map(asListed)
    const folders = await session.listFolders(signal, listKnown)
    // Every mailbox has an inbox, so an empty list is an error of the provider.
    if (folders.length === 0) throw new ProviderError('unavailable', 'the provider listed no folders')
    const plan = planFolders(await labels.all(context.accountId), folders)
    this.#scopes = session.scopes(folders)
    const syncedAs = new Map(folders.map((folder) => [folder, 'mailbox']))
    const synced = { syncedAs, hasCursorPerFolder: !this.#isOneScope }
    const outcome = await storeFolders(this.#deps, context, plan, synced, apiChanges)
    if (outcome === 'stale') return this.#list(open, signal)
    const rows = await labels.all(context.accountId)
    this.#labels = new Map(rows.map((label) => [label.providerId, label]))
    await this.#folders.keepOnly(new Set(rows.map(({ id }) => id)))
    for (const label of plan.vanished) {
      if (this.#isOneScope) await deleteLabel(this.#deps, { ...context, signal }, label, rows)
      else await deleteFolder(this.#deps, { ...context, signal }, label)
    }
    this.#deletedFolders = this.#isOneScope ? [] : plan.vanished
    this.#listedAt = listedAt
    this.#listedChange = apiChanges.latestFolder
    this.#isListingRequested = false
    this.#unknown.clear()
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
    return cursorIdOf({ ...context, scope: this.#labels.get(scope) })
  }

  /** A folder that fails costs only itself, and is left out for longer and longer. */
  async #syncScopes(open: Open, apiChanges: ApiChanges, signal: AbortSignal): Promise<void> {
    await this.#folders.load()
    const paused = this.#pausedScopes()
    const scopes = this.#scopes.filter((scope) => !paused.has(scope))
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
    const label = this.#labels.get(scope)
    if (label !== undefined) await this.#folders.failed(label, error)
  }

  /** None when all are paused: then the account fails, with pauses of its own. */
  #pausedScopes(): ReadonlyMap<string, ProviderError> {
    const paused = new Map<string, ProviderError>()
    for (const path of this.#scopes) {
      const label = this.#labels.get(path)
      const reason = label && this.#folders.pauseReason(label)
      if (reason !== undefined) paused.set(path, new ProviderError('unavailable', reason))
    }
    return paused.size < this.#scopes.length ? paused : new Map()
  }

  async #readAgain(open: Open, signal: AbortSignal): Promise<void> {
    const { session, context } = open
    const labels = (paths: readonly string[]) => this.#labelsWith(open, paths, signal)
    await readAgain(this.#deps, { ...context, session, isOneScope: this.#isOneScope, labels, signal })
    this.#againAt = await unreadableStore(this.#deps.db.read, context.accountId).nextAttemptAt('message')
  }

  async #syncOne(open: Open, path: string, apiChanges: ApiChanges, signal: AbortSignal): Promise<void> {
    const { session, context } = open
    const scope = this.#labels.get(path)
    if (path !== ENTIRE_MAILBOX && scope === undefined) return
    const bodies = (step: MailboxStep, position: CursorRow | undefined) =>
      mailboxBodies(this.#deps, this.#mail, open.access, step, position, this.#account.syncedAt())
    const labels = (paths: readonly string[]) => this.#labelsWith(open, paths, signal)
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
    if (this.#isOneScope || this.#failed.size + this.#notFound.size < tried) return
    const [failure] = this.#failed.values()
    throw failure ?? new ProviderError('unavailable', 'the provider lists folders and finds none of them')
  }

  /** Lists the folders again when a message carries an unknown label, created after the last listing. Then ignores unknown ones. */
  async #labelsWith(open: Open, paths: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, LabelRow>> {
    const isUnknown = (path: string) => !this.#labels.has(path) && !this.#unknown.has(path)
    if (paths.some(isUnknown)) {
      await this.#list(open, signal)
      for (const path of paths.filter(isUnknown)) this.#unknown.add(path)
    }
    return this.#labels
  }

  /**
   * Deletes messages that were missing before two complete syncs, listings included, and were found in neither, nor by their id. One
   * sync is not enough: a message may move from a folder not yet read to one already read, and the provider may report changes late.
   */
  async #deleteMissing(open: Open, startedAt: number, signal: AbortSignal): Promise<void> {
    const context = { ...open.context, signal }
    this.#hasMissing = false
    if (this.#isOneScope) return
    const store = messageStore(this.#deps.db.read)
    const findMissing = (limit: number) => store.missing(context.accountId, Number.MAX_SAFE_INTEGER, limit)
    const isAnyMissing = (await findMissing(1)).length > 0
    // A folder that cannot be read may have the messages, unless the provider can be asked for each of them.
    const isCertain = open.session.readMessages !== undefined
    let askedBefore = 0
    if (isCertain || (this.#failed.size === 0 && this.#notFound.size === 0)) {
      const graceEndedAt = this.#deps.clock.now() - this.#timing.moveGraceMs
      askedBefore = Math.min(this.#lastFullSyncAt, startedAt, graceEndedAt)
      // Skipped when nothing is missing: the fence would still write the account's row.
      if (isAnyMissing) {
        const labels = (paths: readonly string[]) => this.#labelsWith(open, paths, signal)
        await deleteMissing(this.#deps, context, askedBefore, (rows) =>
          findExisting(this.#deps, { ...context, session: open.session, labels }, rows),
        )
      }
      this.#lastFullSyncAt = startedAt
    }
    for (const label of this.#deletedFolders) await deleteFolder(this.#deps, context, label)
    // Messages that stay although they were asked for wait for the next poll.
    const isNotAsked = ({ goneAt }: MessageRow) => goneAt !== null && goneAt >= askedBefore
    this.#hasMissing =
      (isAnyMissing || this.#deletedFolders.length > 0) && (await findMissing(MAX_MISSING)).some(isNotAsked)
  }
}

/** The folder as it was listed last. */
function asListed({ providerId, name, displayName, providerName, providerColor, ...label }: LabelRow): RemoteFolder {
  const { role, delimiter, mailboxId } = label
  return {
    path: providerId,
    name: providerName ?? displayName,
    fullName: name,
    color: providerColor,
    delimiter,
    role,
    selectable: label.selectable === 1,
    mailboxId,
  }
}

/** The request got no response. */
function isUnreachable({ timedOut, host }: ProviderError): boolean {
  return timedOut || host !== undefined
}
