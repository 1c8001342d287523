import { hash } from 'node:crypto'
import { type Account, type ApiChanges, findApiChanges } from '../../../accounts/index.ts'
import {
  type FolderMailProvider,
  type FolderSession,
  type FolderStep,
  type FolderWatch,
  ProviderError,
  type RemoteFolder,
} from '../../../providers/contract/index.ts'
import { type LabelRow, labelStore, planFolders } from '../../labels/index.ts'
import { messageStore } from '../../messages/index.ts'
import type { OwnedAccount, SyncDeps, SyncTiming } from '../deps.ts'
import { eventBodies } from '../event-bodies.ts'
import { chooseSyncedFolders, storeFolders } from '../folder-listing.ts'
import { type CursorRow, cursorStore } from '../store.ts'
import { unreadableStore } from '../unreadable/store.ts'
import type { AccountWork, Watch } from '../work.ts'
import { FolderAttempts, isMain } from './attempts.ts'
import { FolderConnection, type Open } from './connection.ts'
import { deleteFolder, deleteMissing, moveMissing } from './deletion.ts'
import { readMessagesAgain } from './read-again.ts'
import { detectRenames } from './renames.ts'
import { repairMessages } from './repairs.ts'
import { type FetchFailures, syncFolder } from './sync.ts'

/** A run syncs folders that change again this many times before it ends and other accounts run. */
const MAX_ROUNDS = 10
const MAX_DELETION_ROUNDS = 3
/** Delay of the next full sync after a listed folder turned out to be missing. Prevents a loop if the server contradicts itself. */
const VANISHED_MS = 5_000
/** Until messages that could not be read are read again, after that failed. */
const REPAIR_RETRY_MS = 60 * 60_000
/** When so many folders in a row get no response, the others would only wait, too. */
const MAX_UNREACHABLE = 3

/**
 * Syncs a mailbox that consists of folders (IMAP). A sync connection reports changes between the polls. Changed folders are
 * remembered across sessions until they are synced.
 *
 *   open ──► every minute: list folders, STATUS each ──► sync changed folders ──► delete missing messages ──► watch
 *     ▲                                                          ▲
 *   onClose                                                   onChange
 */
export class FolderWork implements AccountWork {
  readonly waitsOutPauses = false
  readonly repeatsRefusedLogins = true
  readonly #deps: SyncDeps
  readonly #timing: SyncTiming
  readonly #account: Omit<OwnedAccount, 'provider'>
  readonly #mail: FolderMailProvider
  readonly #onChange: () => void
  readonly #connection: FolderConnection
  #isSyncing = false
  /** The synced folders, the main folder first. */
  #folders: LabelRow[] = []
  /** The last listing that the labels agree with, so that the same one again reads none of them. */
  #storedListing: string | undefined
  /** The stored cursors by folder, while nothing has changed them, so that a check that finds nothing reads none. */
  #cursors: ReadonlyMap<string, CursorRow> | undefined
  /** False after no message was missing, until folders are synced or listed anew. */
  #mayMissMessages = true
  /** When the next missing message counts as deleted, if that is all that it waits for. */
  #deletionAt: number | undefined
  /** Messages that were missing before this time have been looked for in every folder, and their copies too. */
  #lookedForAt = Number.MIN_SAFE_INTEGER
  /** Paths of the changed folders. */
  #dirty = new Set<string>()
  /** Monotonic; when the next full sync is due. */
  #fullSyncAt = Number.NEGATIVE_INFINITY
  /** Monotonic; when messages are next read again that could not be read. */
  #repairAt = Number.NEGATIVE_INFINITY
  readonly #attempts: FolderAttempts
  /** How the session learns of changes of the main folder. */
  #watched: { session: FolderSession; by: FolderWatch } | undefined
  /** When a message is next read again that the server did not return. Null: there is none. Undefined: not known. */
  #againAt: number | null | undefined

  /** Calls `onChange` when a folder changed or the connection was lost, so that a run should follow. */
  constructor(
    deps: SyncDeps,
    timing: SyncTiming,
    account: Omit<OwnedAccount, 'provider'>,
    mail: FolderMailProvider,
    onChange: () => void,
  ) {
    this.#deps = deps
    this.#timing = timing
    this.#account = account
    this.#mail = mail
    this.#onChange = onChange
    this.#connection = new FolderConnection(deps, account, mail, (path) => this.#changed(path))
    this.#attempts = new FolderAttempts(deps, account)
  }

  get isOpen(): boolean {
    return this.#connection.current !== undefined
  }

  get watch(): Watch | undefined {
    const session = this.#connection.current?.session
    if (session === undefined) return undefined
    return this.#watched?.session === session ? this.#watched.by : 'poll'
  }

  get triedAccessVersion(): number | undefined {
    return this.#connection.triedAccessVersion
  }

  get isInSync(): boolean {
    return !this.#attempts.hasFailed
  }

  get failure(): ProviderError | undefined {
    const [main] = this.#folders
    return main !== undefined && isMain(main) ? this.#attempts.findLastingFailure(main) : undefined
  }

  accessChanged(): void {
    this.#connection.accessChanged()
  }

  requestFullSync(): void {
    this.#fullSyncAt = Number.NEGATIVE_INFINITY
    this.#againAt = undefined
    this.#forgetStored()
  }

  endPause(): void {
    this.#attempts.endPauses()
    this.#connection.endPause()
  }

  reconnect(): void {
    this.#connection.reconnect()
  }

  closeIfSilent(signal: AbortSignal): Promise<void> {
    return this.#connection.closeIfSilent(this.#timing.silentMs, () => this.#isSyncing, signal)
  }

  async open(account: Account, signal: AbortSignal): Promise<void> {
    if (await this.#connection.open(account, signal)) this.requestFullSync()
  }

  close(): Promise<void> {
    return this.#connection.close()
  }

  async sync(account: Account, signal: AbortSignal): Promise<boolean> {
    const open = this.#connection.current
    if (open === undefined) throw new ProviderError('unavailable', 'the connection ended before it was used')
    this.#isSyncing = true
    try {
      const isFullSync = await this.#syncAll(open, account, signal)
      if (!this.#isOver(open)) this.#attempts.ended(true)
      return isFullSync && !this.#isOver(open)
    } catch (error) {
      this.#attempts.ended(false)
      throw error
    } finally {
      this.#isSyncing = false
    }
  }

  /** Ends early when the connection is over. */
  async #syncAll(open: Open, account: Account, signal: AbortSignal): Promise<boolean> {
    await this.#attempts.load()
    const isFullSync = this.#now() >= this.#fullSyncAt
    const steps = [
      () => (isFullSync ? this.#checkAll(open, account, signal) : this.#watch(open, account, signal)),
      () => this.#syncChanged(open, signal),
      // First, because a message that is missing may be one of these.
      () => this.#readAgain(open, signal),
      () => this.#deleteMissing(open, account, signal),
      () => this.#repair(open, signal),
    ]
    for (const label of this.#folders) if (this.#attempts.isDueAgain(label)) this.#dirty.add(label.providerId)
    for (const step of steps) if (!this.#isOver(open)) await step()
    return isFullSync
  }

  nextRunInMs({ watch }: Account): number {
    if (this.#dirty.size > 0) return 0
    const pollMs = watch ? Math.max(0, this.#fullSyncAt - this.#now()) : this.#timing.pollMs
    const never = Number.POSITIVE_INFINITY
    const nextAt = Math.min(
      this.#deletionAt ?? never,
      this.#againAt ?? never,
      this.#attempts.nextAttemptAt(this.#folders),
    )
    return Math.min(pollMs, Math.max(0, nextAt - this.#deps.clock.now()))
  }

  /** A folder ended the connection. The next run begins at once, on another one. */
  #isOver({ session }: Open): boolean {
    return this.#connection.current?.session !== session
  }

  /** Without a path, any folder may have changed. */
  #changed(path: string | undefined): void {
    if (path === undefined) this.requestFullSync()
    else this.#dirty.add(path)
    this.#onChange()
  }

  /** Lists the folders, stores new, renamed and deleted ones, and marks the changed ones. */
  async #checkAll(open: Open, account: Account, signal: AbortSignal): Promise<void> {
    const { session, context } = open
    const fullSyncAt = this.#now() + this.#timing.pollMs * (0.9 + 0.2 * Math.random())
    this.#attempts.restart()
    const apiChanges = await findApiChanges(this.#deps.db.read, context.accountId)
    const folders = await session.listFolders(signal)
    // Every mailbox has an INBOX, so an empty list is a server failure. It must not delete every folder.
    if (folders.length === 0) throw new ProviderError('unavailable', 'the server listed no folders')
    const listing = `${apiChanges.latestFolder} ${hash('sha1', JSON.stringify([context.mailbox, folders]))}`
    if (listing !== this.#storedListing) {
      this.#storedListing = undefined
      this.#forgetStored()
      const outcome = await this.#storeListing(open, folders, apiChanges, signal)
      if (outcome === 'stale') return this.#checkAll(open, account, signal)
      // A folder that vanished is deleted with its last message, which may be later.
      if (outcome === 'stored') this.#storedListing = listing
    }
    for (const label of this.#folders) this.#attempts.leavesOut(label, this.#folders)
    await this.#watch(open, account, signal)
    if (this.#isOver(open)) return
    for (const path of await this.#changedFolders(session)) this.#dirty.add(path)
    this.#fullSyncAt = fullSyncAt
    if (this.#folders[0] === undefined || !isMain(this.#folders[0])) {
      throw new ProviderError('not_found', `there is no folder "${context.mailbox}" on the server`)
    }
  }

  /** Updates the labels and `#folders`. Returns `stale` as `storeFolders` does, and `vanished` when a folder of a label was not listed. */
  async #storeListing(
    { session, context }: Open,
    listed: readonly RemoteFolder[],
    apiChanges: ApiChanges,
    signal: AbortSignal,
  ): Promise<'stored' | 'vanished' | 'stale'> {
    const labels = labelStore(this.#deps.db.read)
    const stored = await labels.all(context.accountId)
    const plan = await detectRenames(this.#deps, session, planFolders(stored, listed), signal)
    const syncedAs = chooseSyncedFolders(plan.kept, plan.appeared, context.mailbox, this.#deps.settings.folders)
    const synced = { syncedAs, hasCursorPerFolder: true }
    const outcome = await storeFolders(this.#deps, context, plan, synced, apiChanges)
    if (outcome === 'stale') return outcome
    for (const label of plan.vanished) await deleteFolder(this.#deps, { ...context, signal }, label)
    await this.#attempts.keepOnly(new Set(plan.kept.map(({ label }) => label.id)))
    const hasVanished = plan.vanished.length > 0
    const rows = outcome === 'unchanged' && !hasVanished ? stored : await labels.all(context.accountId)
    const syncedRows = rows.filter((label) => label.syncedAs !== null)
    this.#folders = syncedRows.sort((a, b) => Number(isMain(b)) - Number(isMain(a)))
    return hasVanished ? 'vanished' : 'stored'
  }

  /** Must precede the check and the reading of folders, so that changes made meanwhile are reported. */
  async #watch(open: Open, { watch }: Account, signal: AbortSignal): Promise<void> {
    const [main] = this.#folders
    if (!watch || main === undefined || !isMain(main) || this.#attempts.leavesOut(main, this.#folders)) return
    await this.#tryFolder(open, main, signal, async () => {
      try {
        this.#watched = { session: open.session, by: await open.session.watch(main.providerId) }
      } catch (error) {
        const isRefused = error instanceof ProviderError && error.kind === 'rejected'
        if (!isRefused || this.#isOver(open)) throw error
        // Sync finds out whether the folder can be read.
        this.#dirty.add(main.providerId)
      }
    })
  }

  async #changedFolders(session: FolderSession): Promise<string[]> {
    this.#cursors ??= await cursorStore(this.#deps.db.read).all(this.#account.accountId)
    const cursors = this.#cursors
    const positions = this.#folders.map((label) => ({
      path: label.providerId,
      cursor: cursors.get(label.id)?.cursor ?? null,
    }))
    const unfinished = this.#folders.filter((label) => {
      const position = cursors.get(label.id)
      const isCompared = position?.compareFrom === null
      return position === undefined || position.cursor === null || position.announceAfter !== null || !isCompared
    })
    return [...(await session.changedFolders(positions)), ...unfinished.map((label) => label.providerId)]
  }

  async #syncChanged(open: Open, signal: AbortSignal): Promise<void> {
    let unreachable = 0
    for (let round = 0; round < MAX_ROUNDS && this.#dirty.size > 0; round += 1) {
      const dirty = this.#dirty
      this.#dirty = new Set()
      for (const label of this.#folders) {
        if (!dirty.has(label.providerId) || this.#attempts.leavesOut(label, this.#folders)) continue
        await this.#syncOne(open, label, signal)
        const failure = this.#attempts.findFailure(label)
        if (failure === undefined) dirty.delete(label.providerId)
        if (this.#isOver(open)) {
          for (const path of dirty) this.#dirty.add(path)
          return
        }
        unreachable = failure?.timedOut ? unreachable + 1 : 0
        if (unreachable === MAX_UNREACHABLE && failure !== undefined) throw failure
      }
    }
    this.#attempts.throwIfNoneIsRead(this.#folders)
  }

  async #syncOne(open: Open, label: LabelRow, signal: AbortSignal): Promise<void> {
    const { session, context } = open
    this.#forgetStored()
    const bodies = (step: FolderStep) => {
      const isIncomplete = step.added.some(({ error, unreadable }) => error !== null && unreadable === undefined)
      if (isIncomplete && this.#repairAt === NEVER) this.#repairAt = this.#now()
      return eventBodies(this.#deps, this.#mail, context.accountId, label, step)
    }
    const failures: FetchFailures = {
      losses: this.#attempts.countLosses(label),
      mayHaveUnreadable: () => this.#againAt !== null,
      onSuspect: (message) => {
        this.#attempts.suspect(message)
        this.#againAt = undefined
      },
      onUnreadable: () => {
        this.#againAt = undefined
      },
    }
    await this.#tryFolder(open, label, signal, async () => {
      const exists = await syncFolder(this.#deps, { ...context, session, label, bodies, failures, signal })
      await this.#attempts.succeeded(label)
      if (!exists) this.#fullSyncAt = Math.min(this.#fullSyncAt, this.#now() + VANISHED_MS)
    })
  }

  async #tryFolder(open: Open, label: LabelRow, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
    const isOver = () => this.#isOver(open)
    const attempt = { context: open.context, label, folders: this.#folders, signal, isOver }
    if ((await this.#attempts.run(attempt, work)) === 'repeat') this.#dirty.add(label.providerId)
  }

  /**
   * Looks for messages that left their folder in all others, once. Those that were not found, and have no copy that they moved to, are
   * deleted when they were missing for long enough.
   */
  async #deleteMissing(open: Open, account: Account, signal: AbortSignal): Promise<void> {
    this.#deletionAt = undefined
    if (!this.#mayMissMessages) return
    const { clock, db } = this.#deps
    const context = { ...open.context, signal }
    for (let round = 0; round < MAX_DELETION_ROUNDS; round += 1) {
      const begunAt = clock.now()
      const deleteBefore = begunAt - this.#timing.folderMoveGraceMs
      const missing = await messageStore(db.read).missingTimes(context.accountId)
      this.#mayMissMessages = missing !== undefined
      if (missing === undefined) return
      if (missing.last < this.#lookedForAt && missing.first >= deleteBefore) {
        this.#deletionAt = missing.first + this.#timing.folderMoveGraceMs + 1
        return
      }
      await this.#checkAll(open, account, signal)
      if (!this.#isOver(open)) await this.#syncChanged(open, signal)
      if (this.#isOver(open) || this.#attempts.mayContainMissing(this.#folders)) return
      if (!(await this.#foldersStillExist(open.session, signal))) continue
      const fromMs = Math.min(missing.first, this.#lookedForAt)
      await moveMissing(this.#deps, context, { fromMs, beforeMs: begunAt })
      await deleteMissing(this.#deps, context, deleteBefore)
      this.#lookedForAt = begunAt
    }
    // More messages left meanwhile.
    this.#deletionAt = clock.now() + this.#timing.folderMoveGraceMs
  }

  /** Reads messages again that the server did not return. */
  async #readAgain({ session, context }: Open, signal: AbortSignal): Promise<void> {
    const store = unreadableStore(this.#deps.db.read, context.accountId)
    if (this.#againAt === undefined) this.#againAt = await store.nextAttemptAt('message')
    if (this.#againAt === null || this.#againAt > this.#deps.clock.now()) return
    await readMessagesAgain(this.#deps, {
      ...context,
      labels: this.#folders,
      mail: this.#mail,
      signal,
      presentUids: (path, uidValidity, uids) => session.presentUids(path, uidValidity, uids),
    })
    this.#againAt = await store.nextAttemptAt('message')
  }

  /** Once for every account that this process syncs, and after messages were stored with errors. */
  async #repair({ context }: Open, signal: AbortSignal): Promise<void> {
    if (this.#now() < this.#repairAt) return
    const outcome = await repairMessages(this.#deps, this.#mail, { ...context, labels: this.#folders, signal })
    if (outcome === 'done') this.#repairAt = NEVER
    if (outcome === 'failed') this.#repairAt = this.#now() + REPAIR_RETRY_MS
  }

  /** A folder that was renamed during the full sync may contain the missing messages. */
  async #foldersStillExist(session: FolderSession, signal: AbortSignal): Promise<boolean> {
    const paths = new Set((await session.listFolders(signal)).map((folder) => folder.path))
    return this.#folders.every((label) => paths.has(label.providerId))
  }

  /** Whatever changes cursors or removes messages calls this, or has a full sync requested. */
  #forgetStored(): void {
    this.#cursors = undefined
    this.#mayMissMessages = true
  }

  #now(): number {
    return this.#deps.clock.monotonic()
  }
}

const NEVER = Number.POSITIVE_INFINITY
