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
import { recogniseRenames } from './renames.ts'
import { syncFolder } from './sync.ts'

/** Looks at what changed while it was looked at; then others get their turn first. */
const MAX_ROUNDS = 10
const SETTLE_ROUNDS = 3
/** A folder was listed and is gone: look again, but not in a loop if the server contradicts itself. */
const VANISHED_MS = 5_000

/** A mailbox that is open to be looked at. */
export interface OpenMailbox {
  session: FolderSession
  mail: FolderMailProvider
  /** `mailbox` is the path of the account's own folder. */
  context: OwnedAccount & { mailbox: string }
  /** False once the session ended: then no folder is to blame for a failure. */
  isOpen(): boolean
}

/**
 * The folders of one account that are kept in step, and what is to be looked at in them. Sessions come and go; what
 * happened stays until it was looked at.
 */
export class AccountFolders {
  readonly #deps: SyncDeps
  readonly #timing: SyncTiming
  readonly #accountId: string
  /** Paths of folders in which something happened. */
  #dirty = new Set<string>()
  /** Monotonic; when every folder is to be looked at again. */
  #pollAt = Number.NEGATIVE_INFINITY
  /** The folders kept in step, the account's own first. */
  #folders: LabelRow[] = []
  /** Folders that could not be brought in step since the last look at everything. */
  readonly #behind = new Set<string>()

  constructor(deps: SyncDeps, timing: SyncTiming, accountId: string) {
    this.#deps = deps
    this.#timing = timing
    this.#accountId = accountId
  }

  /** The account's own folder, once it was seen. */
  get own(): LabelRow | undefined {
    return this.#folders[0]
  }

  /** Is it time to look at every folder? */
  get isLookDue(): boolean {
    return this.#now() >= this.#pollAt
  }

  get nextLookInMs(): number {
    return Math.max(0, this.#pollAt - this.#now())
  }

  get hasChanges(): boolean {
    return this.#dirty.size > 0
  }

  /** False while some folder could not be read. */
  get areInSync(): boolean {
    return this.#behind.size === 0
  }

  /** Something happened in the folder of this path. */
  changed(path: string): void {
    this.#dirty.add(path)
  }

  /** Makes the look at every folder due. */
  requestFullSync(): void {
    this.#pollAt = Number.NEGATIVE_INFINITY
  }

  /** Reads what changed, and deletes what vanished and turned up nowhere else. */
  async syncFolders(open: OpenMailbox, signal: AbortSignal): Promise<void> {
    await this.#syncChanged(open, signal)
    await this.#settle(open, signal)
  }

  /** Folders as they are now: new, renamed and vanished ones; then those in which something changed. */
  async look({ session, context }: OpenMailbox, signal: AbortSignal): Promise<void> {
    const pollAt = this.#now() + this.#timing.pollMs * (0.9 + 0.2 * Math.random())
    this.#behind.clear()
    const folders = await session.listFolders()
    // Every mailbox has an INBOX: an empty list is a server in trouble, not a mailbox without mail.
    if (folders.length === 0) throw new ProviderError('unavailable', 'the server listed no folders')
    const labels = labelStore(this.#deps.db.read)
    const named = planFolders(await labels.all(this.#accountId), folders)
    const plan = await recogniseRenames(this.#deps, session, named, signal)
    const syncedAs = chooseSyncedFolders(plan.kept, plan.appeared, context.mailbox, this.#deps.settings.folders)
    await storeFolders(this.#deps, context, plan, { syncedAs, hasCursorPerFolder: true })
    for (const label of plan.vanished) await deleteFolder(this.#deps, context, label)
    const kept = (await labels.all(this.#accountId)).filter((label) => label.syncedAs !== null)
    this.#folders = kept.sort((a, b) => Number(isOwn(b)) - Number(isOwn(a)))
    for (const path of await this.#changedFolders(session)) this.#dirty.add(path)
    this.#pollAt = pollAt
    if (this.#folders[0] === undefined || !isOwn(this.#folders[0])) {
      throw new ProviderError('not_found', `there is no folder "${context.mailbox}" on the server`)
    }
  }

  async #changedFolders(session: FolderSession): Promise<string[]> {
    const cursors = await cursorStore(this.#deps.db.read).all(this.#accountId)
    const asked = this.#folders.map((label) => ({
      path: label.providerId,
      cursor: cursors.get(label.id)?.cursor ?? null,
    }))
    const unfinished = this.#folders.filter((label) => {
      const position = cursors.get(label.id)
      return position === undefined || position.cursor === null || position.announceAfter !== null
    })
    return [...(await session.changedFolders(asked)), ...unfinished.map((label) => label.providerId)]
  }

  async #syncChanged(open: OpenMailbox, signal: AbortSignal): Promise<void> {
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
      const isThere = await syncFolder(this.#deps, { ...context, session, label, bodies, signal })
      this.#behind.delete(label.id)
      if (!isThere) this.#pollAt = Math.min(this.#pollAt, this.#now() + VANISHED_MS)
    } catch (error) {
      // A folder that the server will not open, or has no second connection for, must not keep the others from their mail.
      const isOver = !isOpen() || signal.aborted || isOwn(label)
      if (isOver || !(error instanceof ProviderError) || error.kind === 'auth_expired') throw error
      this.#behind.add(label.id)
      this.#deps.log.warn('A folder cannot be brought in step; the others go on', {
        ...{ accountId: this.#accountId, provider: context.provider, operation: 'sync.account', error },
        metadata: { labelId: label.id },
      })
    }
  }

  /** Rows that vanished are deleted once a look at every folder, begun afterwards, has not found them elsewhere. */
  async #settle(open: OpenMailbox, signal: AbortSignal): Promise<void> {
    const store = messageStore(this.#deps.db.read)
    for (let round = 0; round < SETTLE_ROUNDS; round += 1) {
      const begunAt = this.#deps.clock.now()
      if ((await store.missing(this.#accountId, Number.MAX_SAFE_INTEGER, 1)).length === 0) return
      await this.look(open, signal)
      await this.#syncChanged(open, signal)
      if (this.#behind.size > 0) return
      if (await this.#stillThere(open.session)) await deleteMissing(this.#deps, open.context, begunAt)
    }
  }

  /** A folder that was renamed while the others were looked at may hold what they miss. */
  async #stillThere(session: FolderSession): Promise<boolean> {
    const paths = new Set((await session.listFolders()).map((folder) => folder.path))
    return this.#folders.every((label) => paths.has(label.providerId))
  }

  #now(): number {
    return this.#deps.clock.monotonic()
  }
}

function isOwn(label: LabelRow): boolean {
  return label.syncedAs?.startsWith('main:') === true
}
