import type { ImapFlow, MailboxObject, StatusObject } from 'imapflow'
import { untilAborted } from '../../../platform/concurrency/abort.ts'
import { isProgrammingError } from '../../../platform/errors/programming-errors.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import type {
  FolderSession,
  FolderStep,
  FolderSyncRequest,
  FolderWatch,
  RemoteFolder,
  SessionEvents,
} from '../../contract/index.ts'
import type { ImapClient } from '../connection/client.ts'
import type { RequestConnection, SharedConnection } from '../connection/request-connection.ts'
import { connectionLost, providerError } from '../errors.ts'
import type { OpenOptions } from '../folders/folder-opener.ts'
import { listUids, uidSet } from '../messages/uids.ts'
import { emptyFolderStep } from './begin.ts'
import { hasChanged, readState, uidValidityOfCursor } from './changes.ts'
import { FetchGuard } from './fetch-guard.ts'
import type { PassContext } from './pass.ts'
import { type FolderWork, SyncConnection, type SyncConnectionOptions } from './sync-connection.ts'
import { syncSteps } from './sync-folder.ts'

interface SessionDeps {
  /** The folder to select first; `watch` may name another. */
  folder: string
  events: SessionEvents
  clock: Clock
  /** `stepMessages`: messages in one step of `syncFolder`. */
  limits: SyncConnectionOptions & { stepMessages: number }
  /** Called when the connection has ended, and at `close`. */
  onEnd(): void
  /** Returns the account's current request connection. */
  requestConnection(): RequestConnection
}

/** How long to use the sync connection alone after the server refused a second one. */
const SINGLE_CONNECTION_MS = 10 * 60_000
const READING = 'reading a folder'
/** UIDs in one SEARCH, to keep the command line short. */
const SEARCH_UIDS = 500

/** How long the states of a listing are used. A later change is found by the next check. */
const LISTED_MS = 10_000

interface Listed {
  states: ReadonlyMap<string, StatusObject>
  /** The folder that was watched then. */
  watched: string | undefined
  atMs: number
}

const NOTHING_LISTED: Listed = { states: new Map(), watched: undefined, atMs: Number.NEGATIVE_INFINITY }

function isRenumbered({ uidValidity }: StatusObject, cursor: string): boolean {
  return uidValidity !== undefined && String(uidValidity) !== uidValidityOfCursor(cursor)
}

/**
 * Syncs one account: the watched folder on the sync connection, other folders on the account's request connection, which is the same one
 * where the server allows only one.
 */
export class ImapSession implements FolderSession, SharedConnection {
  readonly #connection: SyncConnection
  readonly #deps: SessionDeps
  /** Folders compared in this session without a later notification that only another comparison can resolve. */
  readonly #compared = new Set<string>()
  /** Changes that the server reported of a folder since its last pass began. Without an entry, flags or removals may have changed. */
  readonly #reported = new Map<string, 'nothing' | 'arrivals'>()
  /** Folders whose stored messages were found again in this session. */
  readonly #verified = new Set<string>()
  /** Another folder was restored from a backup. */
  #isRestored = false
  /** Folders whose state has another UIDVALIDITY than their cursor. */
  readonly #renumbered = new Set<string>()
  #singleUntilMs = Number.NEGATIVE_INFINITY
  #listed: Listed = NOTHING_LISTED
  /** Steps of empty folders that were never synced, made from the states that the last check read. */
  readonly #emptyFolders = new Map<string, FolderStep>()
  /** The first states of folders that were never synced. */
  readonly #firstStates = new Map<string, StatusObject>()

  constructor(client: ImapClient, deps: SessionDeps) {
    this.#deps = deps
    const { folder, clock, events, limits } = deps
    this.#connection = new SyncConnection(client, {
      folder,
      clock,
      options: limits,
      events: {
        onChange: (path, isUncounted) => {
          this.#emptyFolders.delete(path)
          if (isUncounted) this.#forget(path)
          else if (this.#reported.has(path)) this.#reported.set(path, 'arrivals')
          if (this.#connection.isWatched(path)) events.onChange(path)
        },
        onClose: (failure) => {
          deps.onEnd()
          const isKnown = failure !== undefined && !isProgrammingError(failure)
          const closed = connectionLost('the server closed the connection')
          events.onClose(isKnown ? providerError(failure, 'keeping the sync connection') : closed)
        },
      },
    })
  }

  async listFolders(signal?: AbortSignal, expected?: number): Promise<RemoteFolder[]> {
    const { folder } = this.#connection
    const watched = this.#connection.isWatched(folder) ? folder : undefined
    const listing = this.#connection.list(expected)
    const { folders, states } = await (signal === undefined ? listing : untilAborted(listing, signal))
    this.#listed = { states, watched, atMs: this.#deps.clock.monotonic() }
    return folders
  }

  async changedFolders(folders: readonly { path: string; cursor: string | null }[]): Promise<string[]> {
    // The folders that changed are usually read next.
    const check = <T>(work: (imap: ImapFlow) => Promise<T>) =>
      this.#connection.run('checking a folder', ({ imap }) => work(imap), { moreFollows: true })
    const changed: string[] = []
    const listed = this.#takeListedStates()
    const watched = this.#connection.folder
    // The state of the selected folder is only as fresh as the server's last response.
    if (!listed.has(watched) && folders.some(({ path }) => path === watched)) {
      await check((imap) => imap.noop())
    }
    const { hasCondstore } = this.#connection
    this.#emptyFolders.clear()
    for (const { path, cursor } of folders) {
      const state = listed.get(path) ?? (await check((imap) => readState(imap, path)))
      if (state === 'refused') {
        changed.push(path)
        continue
      }
      const context = { isCompared: this.#compared.has(path), nowMs: this.#deps.clock.now() }
      if (state === undefined || !(hasChanged(state, cursor, context) || this.#isDoubtful(path, cursor))) continue
      this.#reported.delete(path)
      changed.push(path)
      if (cursor !== null && isRenumbered(state, cursor)) this.#renumbered.add(path)
      if (cursor === null && !this.#firstStates.has(path)) this.#firstStates.set(path, state)
      const mayBeEmpty = cursor === null && !this.#connection.storesOnSelect
      const empty = mayBeEmpty && emptyFolderStep(state, { hasCondstore, nowMs: context.nowMs })
      if (empty) this.#emptyFolders.set(path, empty)
    }
    return changed
  }

  /** The states that a listing has just returned, which are used once. */
  #takeListedStates(): ReadonlyMap<string, StatusObject> {
    const { states, watched, atMs } = this.#listed
    this.#listed = NOTHING_LISTED
    if (this.#deps.clock.monotonic() - atMs > LISTED_MS) return NOTHING_LISTED.states
    const { folder } = this.#connection
    // Until a folder is watched, its later changes are not reported.
    return folder === watched ? states : new Map([...states].filter(([path]) => path !== folder))
  }

  async *syncFolder(request: FolderSyncRequest): AsyncGenerator<FolderStep> {
    const { path, cursor } = request
    const { clock, limits } = this.#deps
    const empty = cursor === null && this.#emptyFolders.get(path)
    this.#emptyFolders.delete(path)
    if (cursor === null) this.#verified.add(path)
    if (empty) {
      this.#firstStates.delete(path)
      this.#compared.add(path)
      yield empty
      return
    }
    const onlyArrivals = this.#reported.get(path) === 'arrivals'
    this.#reported.set(path, 'nothing')
    const context = {
      firstState: this.#firstStates.get(path),
      onlyArrivals,
      use: this.#accessFor(request),
      needsComparison: () => {
        const isNeeded = !this.#compared.has(path)
        this.#compared.add(path)
        return isNeeded
      },
      needsVerification: () => {
        const isNeeded = !this.#verified.has(path)
        this.#verified.add(path)
        return isNeeded
      },
      onRestored: () => this.#recordRestore(path),
      now: () => clock.now(),
      step: limits.stepMessages,
      guard: new FetchGuard(request, limits.stepMessages),
    }
    let isComplete = false
    try {
      yield* syncSteps(request, context)
      this.#firstStates.delete(path)
      isComplete = true
    } catch (error) {
      throw providerError(error, READING)
    } finally {
      // It failed, or the caller stopped reading.
      if (!isComplete) {
        this.#forget(path)
        this.#verified.delete(path)
      }
    }
  }

  /** A server can be restored only while it is not running, so that the watched folder is asked once after each login. */
  #isDoubtful(path: string, cursor: string | null): boolean {
    if (cursor === null || this.#verified.has(path)) return false
    return this.#isRestored || this.#connection.isWatched(path)
  }

  /** The other folders probably were, too. */
  #recordRestore(path: string): void {
    this.#isRestored = true
    this.#verified.clear()
    this.#verified.add(path)
    this.#deps.events.onChange(undefined)
  }

  /** Another message was found under a UID of this folder. */
  verifyAgain(path: string): void {
    this.#verified.delete(path)
    this.#forget(path)
    this.#deps.events.onChange(path)
  }

  async presentUids(folderPath: string, uidValidity: string, uids: readonly number[]): Promise<number[] | undefined> {
    const doing = 'looking up messages'
    const sorted = [...uids].sort((left, right) => left - right)
    const search = async ({ imap }: ImapClient, box: MailboxObject) => {
      // Whatever these UIDs are now, the messages may still be in the folder.
      if (String(box.uidValidity) !== uidValidity) return undefined
      await imap.noop()
      const present: number[] = []
      for (let at = 0; at < sorted.length; at += SEARCH_UIDS) {
        present.push(...(await listUids(imap, { uid: uidSet(sorted.slice(at, at + SEARCH_UIDS)) })))
      }
      return present
    }
    try {
      return await this.#inFolder(folderPath, doing, search, { uidValidity })
    } catch (error) {
      const failure = providerError(error, doing)
      if (failure.kind === 'not_found') return undefined
      throw failure
    }
  }

  receivedBytes(): number {
    return this.#connection.receivedBytes + this.#deps.requestConnection().receivedBytes
  }

  watch(folderPath: string): Promise<FolderWatch> {
    return this.#connection.watch(folderPath)
  }

  async close(): Promise<void> {
    this.#deps.onEnd()
    this.#connection.close()
  }

  /** Returns how one pass uses its folder. Every use expects the UIDVALIDITY of the one before. */
  #accessFor({ path, cursor, signal }: FolderSyncRequest): PassContext['use'] {
    let uidValidity = cursor === null ? undefined : uidValidityOfCursor(cursor)
    let fresh = this.#renumbered.delete(path)
    return (work) => {
      const opening = { fresh, uidValidity }
      fresh = false
      const remember: typeof work = (client, box) => {
        uidValidity = String(box.uidValidity)
        return work(client, box)
      }
      return this.#inFolder(path, READING, remember, opening, signal)
    }
  }

  #inFolder<T>(
    path: string,
    doing: string,
    work: FolderWork<T>,
    opening: OpenOptions,
    signal?: AbortSignal,
  ): Promise<T> {
    if (path === this.#connection.folder) return this.#connection.inFolder(path, doing, work, opening)
    const task = { ...opening, fresh: true, doing, work, ...(signal && { signal }) }
    return this.#deps.requestConnection().useFolder(path, task)
  }

  get isOnlyOne(): boolean {
    return this.#deps.clock.monotonic() < this.#singleUntilMs
  }

  refusedAnother(): void {
    this.#singleUntilMs = this.#deps.clock.monotonic() + SINGLE_CONNECTION_MS
  }

  lend<T>(doing: string, work: (client: ImapClient) => Promise<T>): Promise<T> {
    // Meanwhile the server reports no changes of the watched folder.
    this.#reported.clear()
    return this.#connection.lend(doing, work)
  }

  #forget(path: string): void {
    this.#compared.delete(path)
    this.#reported.delete(path)
  }
}
