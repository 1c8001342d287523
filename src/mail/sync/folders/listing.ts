import { hash } from 'node:crypto'
import { type ApiChanges, findApiChanges } from '../../../accounts/index.ts'
import { type FolderSession, ProviderError, type RemoteFolder } from '../../../providers/contract/index.ts'
import { type LabelRow, labelStore, planFolders } from '../../labels/index.ts'
import type { SyncDeps } from '../deps.ts'
import { chooseSyncedFolders, storeFolders } from '../folder-listing.ts'
import type { Open } from './connection.ts'
import { deleteFolder } from './deletion.ts'
import { type FolderAttempts, isMain } from './failing-folders.ts'
import { detectRenames } from './renames.ts'

/** The synced folders of an account. Brings the labels into the state of the server's listing. */
export class FolderListing {
  readonly #deps: SyncDeps
  readonly #attempts: FolderAttempts
  readonly #onChange: () => void
  #synced: readonly LabelRow[] = []
  /** The last listing that the labels agree with, so that the same one again reads none of them. */
  #stored: string | undefined
  /** How many folders the last listing had. */
  #listed: number | undefined

  /** Calls `onChange` before labels, cursors or messages may change. */
  constructor(deps: SyncDeps, attempts: FolderAttempts, onChange: () => void) {
    this.#deps = deps
    this.#attempts = attempts
    this.#onChange = onChange
  }

  /** The synced folders, the main folder first. */
  get synced(): readonly LabelRow[] {
    return this.#synced
  }

  /** The folder that the account is for. Undefined before the first listing, and while the server does not have it. */
  get main(): LabelRow | undefined {
    const [first] = this.#synced
    return first !== undefined && isMain(first) ? first : undefined
  }

  /** Lists the folders, and stores new, renamed and deleted ones. */
  async update(open: Open, chosen: readonly string[] | null, signal: AbortSignal): Promise<void> {
    const { session, context } = open
    const apiChanges = await findApiChanges(this.#deps.db.read, context.accountId)
    const folders = await session.listFolders(signal, await this.#expectedFolders(context.accountId))
    this.#listed = folders.length
    // Every mailbox has an INBOX, so an empty list is a server failure. It must not delete every folder.
    if (folders.length === 0) throw new ProviderError('unavailable', 'the server listed no folders')
    const listing = `${apiChanges.latestFolder} ${hash('sha1', JSON.stringify([context.mailbox, chosen, folders]))}`
    if (listing === this.#stored) return
    this.#stored = undefined
    this.#onChange()
    const outcome = await this.#store(open, { folders, chosen }, apiChanges, signal)
    if (outcome === 'stale') return this.update(open, chosen, signal)
    // A folder that vanished is deleted with its last message, which may be later.
    if (outcome === 'stored') this.#stored = listing
  }

  /** Asks the server again. False when a synced folder was renamed or deleted since the last listing. */
  async stillExists(session: FolderSession, signal: AbortSignal): Promise<boolean> {
    const paths = new Set((await session.listFolders(signal)).map((folder) => folder.path))
    return this.#synced.every((label) => paths.has(label.providerId))
  }

  /** Undefined for a mailbox that was never listed. */
  async #expectedFolders(accountId: string): Promise<number | undefined> {
    if (this.#listed !== undefined) return this.#listed
    const { length } = await labelStore(this.#deps.db.read).all(accountId)
    return length === 0 ? undefined : length
  }

  /** Updates the labels. Returns `stale` as `storeFolders` does, and `vanished` when a folder of a label was not listed. */
  async #store(
    { session, context }: Open,
    { folders: listed, chosen }: { folders: readonly RemoteFolder[]; chosen: readonly string[] | null },
    apiChanges: ApiChanges,
    signal: AbortSignal,
  ): Promise<'stored' | 'vanished' | 'stale'> {
    const labels = labelStore(this.#deps.db.read)
    const stored = await labels.all(context.accountId)
    const plan = await detectRenames(this.#deps, session, planFolders(stored, listed), signal)
    const { kept, appeared } = plan
    const configured = this.#deps.settings.folders
    const syncedAs = chooseSyncedFolders(kept, appeared, context.mailbox, configured, chosen)
    const synced = { syncedAs, hasCursorPerFolder: true }
    const outcome = await storeFolders(this.#deps, context, plan, synced, apiChanges)
    if (outcome === 'stale') return outcome
    for (const label of plan.vanished) await deleteFolder(this.#deps, { ...context, signal }, label)
    await this.#attempts.keepOnly(new Set(plan.kept.map(({ label }) => label.id)))
    const hasVanished = plan.vanished.length > 0
    const rows = outcome === 'unchanged' && !hasVanished ? stored : await labels.all(context.accountId)
    const syncedRows = rows.filter((label) => label.syncedAs !== null)
    this.#synced = syncedRows.sort((a, b) => Number(isMain(b)) - Number(isMain(a)))
    return hasVanished ? 'vanished' : 'stored'
  }
}
