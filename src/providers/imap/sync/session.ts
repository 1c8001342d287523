import type { MailboxObject } from 'imapflow'
import { untilAborted } from '../../../lib/abort.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { FolderSession, FolderStep, FolderSyncRequest, RemoteFolder, SessionEvents } from '../../contract/index.ts'
import type { ImapClient } from '../client.ts'
import { connectionLost, providerError } from '../errors.ts'
import { listFolders } from '../folders.ts'
import type { RequestConnection } from '../request-connection.ts'
import { listUids, uidSet } from '../uids.ts'
import { hasChanged } from './changes.ts'
import { type FolderWork, SyncConnection, type SyncConnectionOptions } from './connection.ts'
import type { FetchBackoff } from './fetch-backoff.ts'
import { syncSteps } from './sync-folder.ts'

export interface SessionDeps {
  /** The folder to select first; `watch` may name another. */
  folder: string
  events: SessionEvents
  clock: Clock
  /** `stepMessages`: messages in one step of `syncFolder`. */
  limits: SyncConnectionOptions & { stepMessages: number }
  /** Returns the account's current request connection. */
  requestConnection(): RequestConnection
  backoffs: { of(path: string): FetchBackoff; clear(path: string): void }
}

/** How long to use the sync connection alone after the server refused a second one. */
const SINGLE_CONNECTION_MS = 10 * 60_000
/** UIDs in one SEARCH, to keep the command line short. */
const SEARCH_UIDS = 500

/** Syncs one account: the watched folder on the sync connection, other folders on the account's request connection. */
export class ImapSession implements FolderSession {
  readonly #connection: SyncConnection
  readonly #deps: SessionDeps
  /** Folders compared in this session without a later notification that only another comparison can resolve. */
  readonly #compared = new Set<string>()
  #singleUntilMs = Number.NEGATIVE_INFINITY

  constructor(client: ImapClient, deps: SessionDeps) {
    this.#deps = deps
    const { folder, clock, events, limits } = deps
    this.#connection = new SyncConnection(client, {
      ...{ folder, clock, options: limits },
      events: {
        onChange: (path, isUncounted) => {
          if (isUncounted) this.#compared.delete(path)
          if (this.#connection.isWatched(path)) events.onChange(path)
        },
        onClose: (failure) => {
          const closed = connectionLost('the server closed the connection')
          events.onClose(failure === undefined ? closed : providerError(failure, 'keeping the sync connection'))
        },
      },
    })
  }

  async listFolders(signal?: AbortSignal): Promise<RemoteFolder[]> {
    const listing = this.#connection.run('listing the folders', listFolders)
    return signal === undefined ? listing : untilAborted(listing, signal)
  }

  async changedFolders(folders: readonly { path: string; cursor: string | null }[]): Promise<string[]> {
    const doing = 'checking a folder'
    const changed: string[] = []
    // The state of the selected folder is only as fresh as the server's last response.
    if (folders.some(({ path }) => path === this.#connection.folder)) {
      await this.#connection.run(doing, ({ imap }) => imap.noop())
    }
    for (const { path, cursor } of folders) {
      const context = { isCompared: this.#compared.has(path), nowMs: this.#deps.clock.now() }
      const check = ({ imap }: ImapClient) => hasChanged(imap, path, cursor, context)
      if (await this.#connection.run(doing, check)) changed.push(path)
    }
    return changed
  }

  async *syncFolder(request: FolderSyncRequest): AsyncGenerator<FolderStep> {
    const { path, signal } = request
    const { backoffs, clock, limits } = this.#deps
    const doing = 'reading a folder'
    const context = {
      use: <T>(work: FolderWork<T>) => this.#inFolder(path, doing, work, signal),
      needsComparison: () => {
        const isNeeded = !this.#compared.has(path)
        this.#compared.add(path)
        return isNeeded
      },
      now: () => clock.now(),
      step: limits.stepMessages,
      backoff: backoffs.of(path),
    }
    try {
      yield* syncSteps(request, context)
      backoffs.clear(path)
    } catch (error) {
      this.#compared.delete(path)
      throw providerError(error, doing)
    }
  }

  async presentUids(folderPath: string, uidValidity: string, uids: readonly number[]): Promise<number[]> {
    const doing = 'looking up messages'
    const sorted = [...uids].sort((left, right) => left - right)
    const search = async ({ imap }: ImapClient, box: MailboxObject) => {
      if (String(box.uidValidity) !== uidValidity) return []
      await imap.noop()
      const present: number[] = []
      for (let at = 0; at < sorted.length; at += SEARCH_UIDS) {
        present.push(...(await listUids(imap, { uid: uidSet(sorted.slice(at, at + SEARCH_UIDS)) })))
      }
      return present
    }
    try {
      return await this.#inFolder(folderPath, doing, search)
    } catch (error) {
      const failure = providerError(error, doing)
      if (failure.kind === 'not_found') return []
      throw failure
    }
  }

  get receivedBytes(): number {
    return this.#connection.receivedBytes + this.#deps.requestConnection().receivedBytes
  }

  watch(folderPath: string): Promise<void> {
    return this.#connection.watch(folderPath)
  }

  async close(): Promise<void> {
    this.#connection.close()
  }

  async #inFolder<T>(path: string, doing: string, work: FolderWork<T>, signal?: AbortSignal): Promise<T> {
    if (path === this.#connection.folder) return this.#connection.inFolder(path, doing, work)
    const { clock, requestConnection } = this.#deps
    if (clock.monotonic() >= this.#singleUntilMs) {
      try {
        return await requestConnection().useFolder(path, { fresh: true, doing, work, ...(signal && { signal }) })
      } catch (error) {
        if (providerError(error, doing).kind !== 'rate_limited') throw error
        this.#singleUntilMs = clock.monotonic() + SINGLE_CONNECTION_MS
      }
    }
    return this.#connection.inOtherFolder(path, doing, work)
  }
}
