import { type MessageRow, messageStore } from '../../messages/index.ts'
import type { SyncDeps } from '../deps.ts'
import { deleteFolder, deleteMissing } from '../folders/deletion.ts'
import { findExisting } from './found-again.ts'
import type { MailboxListing, OpenMailbox } from './listing.ts'

/** How many missing messages a run reads to find one that the provider was not asked for. */
const MAX_MISSING = 200

/** The messages of an account that left their folder and were found in no other one. They are deleted after a time. */
export class MissingMessages {
  readonly #deps: SyncDeps
  readonly #graceMs: number
  readonly #listing: MailboxListing
  #exist = false
  /** When the last complete sync of every folder began. */
  #lastFullSyncAt = 0

  /** `graceMs`: how long a message may be missing before it counts as deleted. */
  constructor(deps: SyncDeps, graceMs: number, listing: MailboxListing) {
    this.#deps = deps
    this.#graceMs = graceMs
    this.#listing = listing
  }

  /** Whether messages are missing that may count as deleted soon. */
  get exist(): boolean {
    return this.#exist
  }

  /**
   * Deletes messages that were missing before two complete syncs, listings included, and were found in neither, nor by their id. One
   * sync is not enough: a message may move from a folder not yet read to one already read, and the provider may report changes late.
   * `isComplete`: the sync, which began at `startedAt`, has read every folder.
   */
  async delete(
    open: OpenMailbox,
    { startedAt, isComplete }: { startedAt: number; isComplete: boolean },
    signal: AbortSignal,
  ): Promise<void> {
    const context = { ...open.context, signal }
    this.#exist = false
    if (this.#listing.isOneScope) return
    const store = messageStore(this.#deps.db.read)
    const findMissing = (limit: number) => store.missing(context.accountId, Number.MAX_SAFE_INTEGER, limit)
    const isAnyMissing = (await findMissing(1)).length > 0
    // A folder that cannot be read may have the messages, unless the provider can be asked for each of them.
    const isCertain = open.session.readMessages !== undefined
    let askedBefore = 0
    if (isCertain || isComplete) {
      const graceEndedAt = this.#deps.clock.now() - this.#graceMs
      askedBefore = Math.min(this.#lastFullSyncAt, startedAt, graceEndedAt)
      // Skipped when nothing is missing: the fence would still write the account's row.
      if (isAnyMissing) {
        const labels = (paths: readonly string[]) => this.#listing.labelsWith(open, paths, signal)
        await deleteMissing(this.#deps, context, askedBefore, (rows) =>
          findExisting(this.#deps, { ...context, session: open.session, labels }, rows),
        )
      }
      this.#lastFullSyncAt = startedAt
    }
    const { deletedFolders } = this.#listing
    for (const label of deletedFolders) await deleteFolder(this.#deps, context, label)
    // Messages that stay although they were asked for wait for the next poll.
    const isNotAsked = ({ goneAt }: MessageRow) => goneAt !== null && goneAt >= askedBefore
    this.#exist = (isAnyMissing || deletedFolders.length > 0) && (await findMissing(MAX_MISSING)).some(isNotAsked)
  }
}
