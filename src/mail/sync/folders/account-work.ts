import type { Account } from '../../../accounts/index.ts'
import {
  type FolderMailProvider,
  type FolderSession,
  type FolderStep,
  type FolderWatch,
  ProviderError,
} from '../../../providers/contract/index.ts'
import type { LabelRow } from '../../labels/index.ts'
import type { AccountWork, Watch } from '../account-work.ts'
import type { OwnedAccount, SyncDeps } from '../deps.ts'
import { eventBodies } from '../event-bodies.ts'
import { type CursorRow, cursorStore } from '../store.ts'
import type { SyncTiming } from '../timing.ts'
import { FolderConnection, type Open } from './connection.ts'
import { FolderAttempts } from './failing-folders.ts'
import { FolderListing } from './listing.ts'
import { MissingMessages } from './missing.ts'
import { Rereads } from './reread-times.ts'
import { type FetchFailures, syncFolder } from './sync.ts'

/** A run syncs folders that change again this many times before it ends and other accounts run. */
const MAX_ROUNDS = 10
/** Delay of the next full sync after a listed folder turned out to be missing. Prevents a loop if the server contradicts itself. */
const VANISHED_MS = 5_000
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
  readonly #listing: FolderListing
  readonly #missing: MissingMessages
  readonly #rereads: Rereads
  /** The stored cursors by folder, while nothing has changed them, so that a check that finds nothing reads none. */
  #cursors: ReadonlyMap<string, CursorRow> | undefined
  /** Paths of the changed folders. */
  #dirty = new Set<string>()
  /** Monotonic; when the next full sync is due. */
  #fullSyncAt = Number.NEGATIVE_INFINITY
  readonly #attempts: FolderAttempts
  /** How the session learns of changes of the main folder. */
  #watched: { session: FolderSession; by: FolderWatch } | undefined

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
    this.#listing = new FolderListing(deps, this.#attempts, () => this.#forgetStored())
    this.#missing = new MissingMessages(deps, timing.folderMoveGraceMs)
    this.#rereads = new Rereads(deps, mail)
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
    const { main } = this.#listing
    return main === undefined ? undefined : this.#attempts.findLastingFailure(main)
  }

  accessChanged(): void {
    this.#connection.accessChanged()
  }

  requestFullSync(): void {
    this.#fullSyncAt = Number.NEGATIVE_INFINITY
    this.#rereads.changed()
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
    for (const label of this.#listing.synced) if (this.#attempts.isDueAgain(label)) this.#dirty.add(label.providerId)
    for (const step of steps) if (!this.#isOver(open)) await step()
    return isFullSync
  }

  nextRunInMs({ watch }: Account): number {
    if (this.#dirty.size > 0) return 0
    const pollMs = watch ? Math.max(0, this.#fullSyncAt - this.#now()) : this.#timing.pollMs
    const never = Number.POSITIVE_INFINITY
    const nextAt = Math.min(
      this.#missing.deletionAt ?? never,
      this.#rereads.nextAt ?? never,
      this.#attempts.nextAttemptAt(this.#listing.synced),
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
    await this.#listing.update(open, account.folders, signal)
    for (const label of this.#listing.synced) this.#attempts.leavesOut(label, this.#listing.synced)
    await this.#watch(open, account, signal)
    if (this.#isOver(open)) return
    for (const path of await this.#changedFolders(session)) this.#dirty.add(path)
    this.#fullSyncAt = fullSyncAt
    if (this.#listing.main === undefined) {
      throw new ProviderError('not_found', `there is no folder "${context.mailbox}" on the server`)
    }
  }

  /** Must precede the check and the reading of folders, so that changes made meanwhile are reported. */
  async #watch(open: Open, { watch }: Account, signal: AbortSignal): Promise<void> {
    const { main, synced } = this.#listing
    if (!watch || main === undefined || this.#attempts.leavesOut(main, synced)) return
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
    const positions = this.#listing.synced.map((label) => ({
      path: label.providerId,
      cursor: cursors.get(label.id)?.cursor ?? null,
    }))
    const unfinished = this.#listing.synced.filter((label) => {
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
      for (const label of this.#listing.synced) {
        if (!dirty.has(label.providerId) || this.#attempts.leavesOut(label, this.#listing.synced)) continue
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
    this.#attempts.throwIfNoneIsRead(this.#listing.synced)
  }

  async #syncOne(open: Open, label: LabelRow, signal: AbortSignal): Promise<void> {
    const { session, context } = open
    this.#forgetStored()
    const bodies = (step: FolderStep) => {
      const isIncomplete = step.added.some(({ error, unreadable }) => error !== null && unreadable === undefined)
      if (isIncomplete) this.#rereads.storedWithError()
      return eventBodies(this.#deps, this.#mail, context.accountId, label, step)
    }
    const failures: FetchFailures = {
      losses: this.#attempts.countLosses(label),
      mayHaveUnreadable: () => this.#rereads.mayExist,
      onSuspect: (message) => {
        this.#attempts.suspect(message)
        this.#rereads.changed()
      },
      onUnreadable: () => this.#rereads.changed(),
    }
    await this.#tryFolder(open, label, signal, async () => {
      const exists = await syncFolder(this.#deps, { ...context, session, label, bodies, failures, signal })
      await this.#attempts.succeeded(label)
      if (!exists) this.#fullSyncAt = Math.min(this.#fullSyncAt, this.#now() + VANISHED_MS)
    })
  }

  async #tryFolder(open: Open, label: LabelRow, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
    const isOver = () => this.#isOver(open)
    const attempt = { context: open.context, label, folders: this.#listing.synced, signal, isOver }
    if ((await this.#attempts.run(attempt, work)) === 'repeat') this.#dirty.add(label.providerId)
  }

  /** Deletes messages that left their folder and are in no other one. */
  async #deleteMissing(open: Open, account: Account, signal: AbortSignal): Promise<void> {
    const syncAll = async () => {
      await this.#checkAll(open, account, signal)
      if (!this.#isOver(open)) await this.#syncChanged(open, signal)
      return !this.#isOver(open) && !this.#attempts.mayContainMissing(this.#listing.synced)
    }
    await this.#missing.delete(
      { ...open.context, signal },
      { syncAll, foldersStillExist: () => this.#listing.stillExists(open.session, signal) },
    )
  }

  #readAgain({ session, context }: Open, signal: AbortSignal): Promise<void> {
    return this.#rereads.readUnreturned({
      ...context,
      labels: this.#listing.synced,
      mail: this.#mail,
      signal,
      presentUids: (path, uidValidity, uids) => session.presentUids(path, uidValidity, uids),
    })
  }

  #repair({ context }: Open, signal: AbortSignal): Promise<void> {
    return this.#rereads.repair({ ...context, labels: this.#listing.synced, signal })
  }

  /** Call this, or request a full sync, before cursors change or messages are removed. */
  #forgetStored(): void {
    this.#cursors = undefined
    this.#missing.changed()
  }

  #now(): number {
    return this.#deps.clock.monotonic()
  }
}
