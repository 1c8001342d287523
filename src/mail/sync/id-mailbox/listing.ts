import { type ApiChanges, findApiChanges } from '../../../accounts/index.ts'
import {
  ENTIRE_MAILBOX,
  type MailboxSession,
  ProviderError,
  type RemoteFolder,
} from '../../../providers/contract/index.ts'
import { type LabelRow, labelStore, planFolders } from '../../labels/index.ts'
import type { OwnedAccount, SyncDeps } from '../deps.ts'
import { storeFolders } from '../folder-listing.ts'
import { deleteFolder } from '../folders/deletion.ts'
import type { FolderFailures } from '../unreadable/folders.ts'
import { deleteLabel } from './deletion.ts'

/** Requested listings of the folders are at least this far apart. */
const LISTING_GAP_MS = 10_000

export interface OpenMailbox {
  session: MailboxSession
  context: OwnedAccount
}

/** The labels of an account. Brings them into the state of the provider's listing. */
export class MailboxListing {
  readonly #deps: SyncDeps
  readonly #foldersMs: number
  readonly #failures: FolderFailures
  /** The labels of the last listing, by provider id. */
  #labels: ReadonlyMap<string, LabelRow> = new Map()
  #scopes: readonly string[] = []
  /** Monotonic. */
  #listedAt = Number.NEGATIVE_INFINITY
  /** The number of the last change of folders through the API before the last listing. */
  #listedChange = 0
  #isRequested = false
  /** Label ids that messages carry and the last listing did not contain. */
  readonly #unknown = new Set<string>()
  #deletedFolders: readonly LabelRow[] = []

  /** `foldersMs`: the interval between two listings of a mailbox that syncs as one. */
  constructor(deps: SyncDeps, foldersMs: number, failures: FolderFailures) {
    this.#deps = deps
    this.#foldersMs = foldersMs
    this.#failures = failures
  }

  /** Each is synced with a cursor of its own: the mailbox, or every folder. */
  get scopes(): readonly string[] {
    return this.#scopes
  }

  get isOneScope(): boolean {
    return this.#scopes.includes(ENTIRE_MAILBOX)
  }

  /** Deleted folders whose messages may still be found in other folders. */
  get deletedFolders(): readonly LabelRow[] {
    return this.#deletedFolders
  }

  find(path: string): LabelRow | undefined {
    return this.#labels.get(path)
  }

  request(): void {
    this.#isRequested = true
  }

  /** Lists the folders when it is time. Always when each is a scope: the messages of an unknown folder would be missed. */
  async updateIfDue(open: OpenMailbox, apiChanges: ApiChanges, signal: AbortSignal): Promise<void> {
    const sinceMs = this.#deps.clock.monotonic() - this.#listedAt
    const isRegular = !this.isOneScope || sinceMs >= this.#foldersMs
    const isDue = isRegular || (this.#isRequested && sinceMs >= LISTING_GAP_MS)
    if (isDue || apiChanges.latestFolder > this.#listedChange) await this.#update(open, signal)
  }

  /** Lists the folders again when a message carries an unknown label, created after the last listing. Then ignores unknown ones. */
  async labelsWith(
    open: OpenMailbox,
    paths: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, LabelRow>> {
    const isUnknown = (path: string) => !this.#labels.has(path) && !this.#unknown.has(path)
    if (paths.some(isUnknown)) {
      await this.#update(open, signal)
      for (const path of paths.filter(isUnknown)) this.#unknown.add(path)
    }
    return this.#labels
  }

  /** Updates the labels: new, renamed and deleted ones. */
  async #update(open: OpenMailbox, signal: AbortSignal): Promise<void> {
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
    const synced = { syncedAs, hasCursorPerFolder: !this.isOneScope }
    const outcome = await storeFolders(this.#deps, context, plan, synced, apiChanges)
    if (outcome === 'stale') return this.#update(open, signal)
    const rows = await labels.all(context.accountId)
    this.#labels = new Map(rows.map((label) => [label.providerId, label]))
    await this.#failures.keepOnly(new Set(rows.map(({ id }) => id)))
    for (const label of plan.vanished) {
      if (this.isOneScope) await deleteLabel(this.#deps, { ...context, signal }, label, rows)
      else await deleteFolder(this.#deps, { ...context, signal }, label)
    }
    this.#deletedFolders = this.isOneScope ? [] : plan.vanished
    this.#listedAt = listedAt
    this.#listedChange = apiChanges.latestFolder
    this.#isRequested = false
    this.#unknown.clear()
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
