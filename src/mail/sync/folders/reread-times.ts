import type { FolderMailProvider } from '../../../providers/contract/index.ts'
import type { SyncDeps } from '../deps.ts'
import { unreadableStore } from '../unreadable/store.ts'
import { type AgainContext, readMessagesAgain } from './read-again.ts'
import { type RepairContext, repairMessages } from './repairs.ts'

const NEVER = Number.POSITIVE_INFINITY
/** Until messages that were stored with errors are read again, after that failed. */
const RETRY_MS = 60 * 60_000

/** When messages of an account are read again: those that the server did not return, and those that were stored with errors. */
export class Rereads {
  readonly #deps: SyncDeps
  readonly #mail: FolderMailProvider
  /** When a message is next read again that the server did not return. Null: there is none. Undefined: not known. */
  #unreturnedAt: number | null | undefined
  /** Monotonic; when messages are next read again that were stored with errors. */
  #repairAt = Number.NEGATIVE_INFINITY

  constructor(deps: SyncDeps, mail: FolderMailProvider) {
    this.#deps = deps
    this.#mail = mail
  }

  /** When a run is due for a message that the server did not return, if that is known. */
  get nextAt(): number | undefined {
    return this.#unreturnedAt ?? undefined
  }

  /** False when the server has returned every message of the account. */
  get mayExist(): boolean {
    return this.#unreturnedAt !== null
  }

  /** The stored failures of messages may have changed. */
  changed(): void {
    this.#unreturnedAt = undefined
  }

  /** A message was stored with an error, which the next run may repair. */
  storedWithError(): void {
    if (this.#repairAt === NEVER) this.#repairAt = this.#deps.clock.monotonic()
  }

  /** Reads messages again that the server did not return. */
  async readUnreturned(context: AgainContext): Promise<void> {
    const store = unreadableStore(this.#deps.db.read, context.accountId)
    if (this.#unreturnedAt === undefined) this.#unreturnedAt = await store.nextAttemptAt('message')
    if (this.#unreturnedAt === null || this.#unreturnedAt > this.#deps.clock.now()) return
    await readMessagesAgain(this.#deps, context)
    this.#unreturnedAt = await store.nextAttemptAt('message')
  }

  /** Once for every account that this process syncs, and after messages were stored with errors. */
  async repair(context: RepairContext): Promise<void> {
    const { clock } = this.#deps
    if (clock.monotonic() < this.#repairAt) return
    const outcome = await repairMessages(this.#deps, this.#mail, context)
    if (outcome === 'done') this.#repairAt = NEVER
    if (outcome === 'failed') this.#repairAt = clock.monotonic() + RETRY_MS
  }
}
