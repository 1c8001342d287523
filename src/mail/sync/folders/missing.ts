import { messageStore } from '../../messages/index.ts'
import type { OwnedAccount, SyncDeps } from '../deps.ts'
import { deleteMissing, moveMissing } from './deletion.ts'

const MAX_ROUNDS = 3

/** Looks for missing messages on the server. */
interface MissingSearch {
  /** Syncs all folders. False when one that may have the messages was not read. */
  syncAll(): Promise<boolean>
  /** False when a synced folder was renamed or deleted since it was listed: it may have the messages. */
  foldersStillExist(): Promise<boolean>
}

/** The messages of an account that left their folder and were found in no other one. They are deleted after a time. */
export class MissingMessages {
  readonly #deps: SyncDeps
  readonly #graceMs: number
  /** False after no message was missing, until folders are synced or listed anew. */
  #mayExist = true
  /** When the next missing message counts as deleted, if that is all that it waits for. */
  #deletionAt: number | undefined
  /** Messages that were missing before this time have been looked for in every folder, and their copies too. */
  #lookedForAt = Number.MIN_SAFE_INTEGER

  /** `graceMs`: how long a message may be missing before it counts as deleted. */
  constructor(deps: SyncDeps, graceMs: number) {
    this.#deps = deps
    this.#graceMs = graceMs
  }

  /** When a run is due for the deletion of a missing message. */
  get deletionAt(): number | undefined {
    return this.#deletionAt
  }

  /** Messages may be missing since now. */
  changed(): void {
    this.#mayExist = true
  }

  /**
   * Looks for messages that left their folder in all others, once. Those that were not found, and have no copy that they moved to, are
   * deleted when they were missing for long enough.
   */
  async delete(context: OwnedAccount & { signal: AbortSignal }, search: MissingSearch): Promise<void> {
    this.#deletionAt = undefined
    if (!this.#mayExist) return
    const { clock, db } = this.#deps
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const begunAt = clock.now()
      const deleteBefore = begunAt - this.#graceMs
      const missing = await messageStore(db.read).missingTimes(context.accountId)
      this.#mayExist = missing !== undefined
      if (missing === undefined) return
      if (missing.last < this.#lookedForAt && missing.first >= deleteBefore) {
        this.#deletionAt = missing.first + this.#graceMs + 1
        return
      }
      if (!(await search.syncAll())) return
      if (!(await search.foldersStillExist())) continue
      const fromMs = Math.min(missing.first, this.#lookedForAt)
      await moveMissing(this.#deps, context, { fromMs, beforeMs: begunAt })
      await deleteMissing(this.#deps, context, deleteBefore)
      this.#lookedForAt = begunAt
    }
    // More messages left meanwhile.
    this.#deletionAt = clock.now() + this.#graceMs
  }
}
