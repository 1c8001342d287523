import {
  type FolderMailProvider,
  type FolderSession,
  type FolderStep,
  ProviderError,
} from '../../../providers/contract/index.ts'
import { type LabelRow, labelStore } from '../../labels/index.ts'
import { messageStore } from '../../messages/index.ts'
import type { OwnedAccount, SyncDeps, SyncTiming } from '../deps.ts'
import { eventBodies } from '../event-bodies.ts'
import { chooseSyncedFolders, planFolders, storeFolders } from '../folder-listing.ts'
import { cursorStore } from '../store.ts'
import { deleteFolder, deleteMissing } from './deletion.ts'
import { detectRenames } from './renames.ts'
import { syncFolder } from './sync.ts'

/** A run syncs folders that change again this many times before it ends and other accounts run. */
const MAX_ROUNDS = 10
const MAX_DELETION_ROUNDS = 3
/** Delay of the next full sync after a listed folder turned out to be missing. Prevents a loop if the server contradicts itself. */
const VANISHED_MS = 5_000

/** A mailbox with an open session. */
export interface OpenMailbox {
  session: FolderSession
  mail: FolderMailProvider
  /** `mailbox` is the path of the account's main folder. */
  context: OwnedAccount & { mailbox: string }
  /** False after the session ended; a failure is then not the fault of the folder. */
  isOpen(): boolean
}

/** The synced folders of one account, and which of them changed. Changes are kept across sessions until they are synced. */
export class AccountFolders {
  readonly #deps: SyncDeps
  readonly #timing: SyncTiming
  readonly #accountId: string
  /** Paths of the changed folders. */
  #dirty = new Set<string>()
  /** Monotonic; when the next full sync is due. */
  #fullSyncAt = Number.NEGATIVE_INFINITY
  /** The synced folders, the main folder first. */
  #folders: LabelRow[] = []
  /** Ids of folders that failed to sync since the last full sync began. */
  readonly #failed = new Set<string>()

  constructor(deps: SyncDeps, timing: SyncTiming, accountId: string) {
    this.#deps = deps
    this.#timing = timing
    this.#accountId = accountId
  }

  /** The main folder; undefined before the first listing. */
  get main(): LabelRow | undefined {
    return this.#folders[0]
  }

  get isFullSyncDue(): boolean {
    return this.#now() >= this.#fullSyncAt
  }

  get nextFullSyncInMs(): number {
    return Math.max(0, this.#fullSyncAt - this.#now())
  }

  get hasChanges(): boolean {
    return this.#dirty.size > 0
  }

  get areInSync(): boolean {
    return this.#failed.size === 0
  }

  /** Marks the folder with this path as changed. */
  changed(path: string): void {
    this.#dirty.add(path)
  }

  /** Makes a full sync due. */
  requestFullSync(): void {
    this.#fullSyncAt = Number.NEGATIVE_INFINITY
  }

  /** Syncs the changed folders, then deletes messages that are missing from every folder. */
  async syncChanged(open: OpenMailbox, signal: AbortSignal): Promise<void> {
    await this.#syncDirty(open, signal)
    await this.#deleteMissing(open, signal)
  }

  /** Lists the folders, stores new, renamed and deleted ones, and marks the changed ones. */
  async checkAll({ session, context }: OpenMailbox, signal: AbortSignal): Promise<void> {
    const fullSyncAt = this.#now() + this.#timing.pollMs * (0.9 + 0.2 * Math.random())
    this.#failed.clear()
    const folders = await session.listFolders()
    // Every mailbox has an INBOX, so an empty list is a server failure. It must not delete every folder.
    if (folders.length === 0) throw new ProviderError('unavailable', 'the server listed no folders')
    const labels = labelStore(this.#deps.db.read)
    const listed = planFolders(await labels.all(this.#accountId), folders)
    const plan = await detectRenames(this.#deps, session, listed, signal)
    const syncedAs = chooseSyncedFolders(plan.kept, plan.appeared, context.mailbox, this.#deps.settings.folders)
    await storeFolders(this.#deps, context, plan, { syncedAs, hasCursorPerFolder: true })
    for (const label of plan.vanished) await deleteFolder(this.#deps, context, label)
    const synced = (await labels.all(this.#accountId)).filter((label) => label.syncedAs !== null)
    this.#folders = synced.sort((a, b) => Number(isMain(b)) - Number(isMain(a)))
    for (const path of await this.#changedFolders(session)) this.#dirty.add(path)
    this.#fullSyncAt = fullSyncAt
    if (this.#folders[0] === undefined || !isMain(this.#folders[0])) {
      throw new ProviderError('not_found', `there is no folder "${context.mailbox}" on the server`)
    }
  }

  async #changedFolders(session: FolderSession): Promise<string[]> {
    const cursors = await cursorStore(this.#deps.db.read).all(this.#accountId)
    const positions = this.#folders.map((label) => ({
      path: label.providerId,
      cursor: cursors.get(label.id)?.cursor ?? null,
    }))
    const unfinished = this.#folders.filter((label) => {
      const position = cursors.get(label.id)
      return position === undefined || position.cursor === null || position.announceAfter !== null
    })
    return [...(await session.changedFolders(positions)), ...unfinished.map((label) => label.providerId)]
  }

  async #syncDirty(open: OpenMailbox, signal: AbortSignal): Promise<void> {
    for (let round = 0; round < MAX_ROUNDS && this.#dirty.size > 0; round += 1) {
      const dirty = this.#dirty
      this.#dirty = new Set()
      for (const label of this.#folders) {
        if (dirty.has(label.providerId)) await this.#syncOne(open, label, signal)
      }
    }
  }

  async #syncOne({ session, mail, context, isOpen }: OpenMailbox, label: LabelRow, signal: AbortSignal): Promise<void> {
    const bodies = (step: FolderStep) => eventBodies(this.#deps, mail, this.#accountId, label, step)
    try {
      const exists = await syncFolder(this.#deps, { ...context, session, label, bodies, signal })
      this.#failed.delete(label.id)
      if (!exists) this.#fullSyncAt = Math.min(this.#fullSyncAt, this.#now() + VANISHED_MS)
    } catch (error) {
      // The server may refuse one folder, or a second connection for it. The other folders are synced all the same.
      const endsRun = !isOpen() || signal.aborted || isMain(label)
      if (endsRun || !(error instanceof ProviderError) || error.kind === 'auth_expired') throw error
      this.#failed.add(label.id)
      this.#deps.log.warn('Cannot sync a folder. The other folders are synced.', {
        ...{ accountId: this.#accountId, provider: context.provider, operation: 'sync.account', error },
        metadata: { labelId: label.id },
      })
    }
  }

  /** Deletes messages that were missing before a full sync began, and that it did not find in another folder. */
  async #deleteMissing(open: OpenMailbox, signal: AbortSignal): Promise<void> {
    const store = messageStore(this.#deps.db.read)
    for (let round = 0; round < MAX_DELETION_ROUNDS; round += 1) {
      const begunAt = this.#deps.clock.now()
      if ((await store.missing(this.#accountId, Number.MAX_SAFE_INTEGER, 1)).length === 0) return
      await this.checkAll(open, signal)
      await this.#syncDirty(open, signal)
      if (this.#failed.size > 0) return
      if (await this.#foldersStillExist(open.session)) await deleteMissing(this.#deps, open.context, begunAt)
    }
  }

  /** A folder that was renamed during the full sync may contain the missing messages. */
  async #foldersStillExist(session: FolderSession): Promise<boolean> {
    const paths = new Set((await session.listFolders()).map((folder) => folder.path))
    return this.#folders.every((label) => paths.has(label.providerId))
  }

  #now(): number {
    return this.#deps.clock.monotonic()
  }
}

function isMain(label: LabelRow): boolean {
  return label.syncedAs?.startsWith('main:') === true
}
