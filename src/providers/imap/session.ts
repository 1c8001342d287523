import type { MailboxObject } from 'imapflow'
import { withTimeout } from '../../lib/abort.ts'
import type { Clock } from '../../lib/clock.ts'
import type { FolderStep, FolderSyncRequest, MailSession, RemoteFolder, SessionEvents } from '../provider.ts'
import type { ImapClient } from './client.ts'
import { readCursor } from './cursor.ts'
import { connectionLost, providerError, timedOut } from './errors.ts'
import { listUids, uidSet } from './fetch.ts'
import { listFolders } from './folders.ts'
import type { Lane } from './lane.ts'
import { folderSteps, type Hold, RECOMPARE_MS } from './sync-folder.ts'

export interface SessionOptions {
  /** A connection that was silent so long is asked whether it still lives. */
  checkEveryMs: number
  /** How long it may take to answer that. */
  answerMs: number
  /** How often a server without IDLE is asked for news. */
  pollEveryMs: number
}

/** IDLE that ends by itself so soon was refused, not interrupted. */
const REFUSED_MS = 1000
const REFUSALS = 3

/**
 * The standing connection of one account. It stays on the watched folder, works there when asked, and listens the moment
 * the work is done; other folders are read on the account's operations connection.
 *
 *   IDLE ──EXISTS──→ onChange ─→ syncFolder: one FETCH ─→ IDLE
 *     └─ silent for checkEveryMs: NOOP, answered within answerMs, else onClose
 */
export class ImapSession implements MailSession {
  readonly #client: ImapClient
  readonly #lane: () => Lane
  readonly #events: SessionEvents
  readonly #clock: Clock
  readonly #options: SessionOptions
  #home: string
  #watching = false
  #working = 0
  #closed = false
  /** Folders compared in this session, and whether something happened since that only a comparison shows. */
  readonly #clean = new Set<string>()
  #refusals = 0
  #nextCheck: NodeJS.Timeout | undefined
  /** Why we gave the connection up. */
  #verdict: unknown

  constructor(
    client: ImapClient,
    home: string,
    lane: () => Lane,
    events: SessionEvents,
    clock: Clock,
    options: SessionOptions,
  ) {
    this.#client = client
    this.#home = home
    this.#lane = lane
    this.#events = events
    this.#clock = clock
    this.#options = options
    const { imap } = client
    imap.on('exists', ({ path }) => this.#notice(path, false))
    imap.on('expunge', ({ path, earlier }) => earlier || this.#notice(path, true))
    imap.on('flags', ({ path }) => this.#notice(path, true))
    imap.on('close', () => this.#onClosed())
    this.#listen()
  }

  async listFolders(): Promise<RemoteFolder[]> {
    return this.#doing('listing the folders', ({ imap }) => listFolders(imap))
  }

  async changedFolders(folders: readonly { path: string; cursor: string | null }[]): Promise<string[]> {
    const changed: string[] = []
    // The selected folder is seen as of the server's last word about it.
    if (folders.some(({ path }) => path === this.#home))
      await this.#doing('looking at a folder', ({ imap }) => imap.noop())
    for (const { path, cursor } of folders) {
      const isChanged = await this.#doing('looking at a folder', ({ imap }) => this.#hasChanged(imap, path, cursor))
      if (isChanged) changed.push(path)
    }
    return changed
  }

  async *syncFolder(request: FolderSyncRequest): AsyncGenerator<FolderStep> {
    const { path, signal } = request
    const hold: Hold =
      path === this.#home
        ? (work) => this.#atHome(`reading the folder`, work)
        : (work) =>
            this.#lane().use({
              ...{ folder: path, fresh: true, doing: 'reading the folder', signal },
              work: (client, box) =>
                box === undefined ? Promise.reject(connectionLost('no folder')) : work(client, box),
            })
    const suspect = () => {
      const isSuspect = !this.#clean.has(path)
      this.#clean.add(path)
      return isSuspect
    }
    try {
      yield* folderSteps(request, { hold, suspect, now: () => this.#clock.now() })
    } catch (error) {
      this.#clean.delete(path)
      throw providerError(error, 'reading the folder')
    }
  }

  async presentUids(folderPath: string, uidValidity: string, uids: readonly number[]): Promise<number[]> {
    if (uids.length === 0) return []
    const wanted = uidSet([...uids].sort((left, right) => left - right))
    const look = async ({ imap }: ImapClient, box: MailboxObject | undefined) =>
      box === undefined || String(box.uidValidity) !== uidValidity ? [] : listUids(imap, wanted, { uid: true })
    const doing = 'looking for messages'
    try {
      if (folderPath === this.#home) {
        await this.#doing(doing, ({ imap }) => imap.noop())
        return await this.#atHome(doing, look)
      }
      return await this.#lane().use({ folder: folderPath, fresh: true, doing, work: look })
    } catch (error) {
      const failure = providerError(error, doing)
      if (failure.kind === 'not_found') return []
      throw failure
    }
  }

  async watch(folderPath: string): Promise<void> {
    this.#home = folderPath
    this.#watching = true
    await this.#atHome('selecting the watched folder', async () => {})
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    clearTimeout(this.#nextCheck)
    this.#client.imap.close()
  }

  #notice(path: string, onlyComparisonShows: boolean) {
    if (onlyComparisonShows) this.#clean.delete(path)
    if (this.#watching && path === this.#home && !this.#closed) this.#events.onChange(path)
  }

  #atHome<T>(doing: string, work: (client: ImapClient, box: MailboxObject) => Promise<T>): Promise<T> {
    return this.#doing(doing, async (client) => {
      const { imap } = client
      const selected = imap.mailbox && imap.mailbox.path === this.#home ? imap.mailbox : undefined
      return work(client, selected ?? (await imap.mailboxOpen(this.#home, { readOnly: true })))
    })
  }

  /** Runs a command; imapflow breaks the IDLE before it, we go back to it right after. */
  async #doing<T>(doing: string, work: (client: ImapClient) => Promise<T>): Promise<T> {
    if (this.#closed || !this.#client.imap.usable) throw connectionLost(`${doing}: the connection is gone`)
    this.#working += 1
    clearTimeout(this.#nextCheck)
    try {
      return await work(this.#client)
    } catch (error) {
      throw providerError(this.#client.imap.usable ? error : (this.#reason() ?? error), doing)
    } finally {
      this.#working -= 1
      this.#listen()
    }
  }

  #listen() {
    if (this.#closed || this.#working > 0) return
    const { imap } = this.#client
    const canIdle = imap.capabilities.has('IDLE') && this.#refusals < REFUSALS
    const listensIdle = this.#watching && canIdle
    clearTimeout(this.#nextCheck)
    const everyMs = this.#watching && !canIdle ? this.#options.pollEveryMs : this.#options.checkEveryMs
    this.#nextCheck = setTimeout(() => void this.#check(), Math.min(everyMs, this.#options.checkEveryMs))
    if (listensIdle && imap.mailbox && !imap.idling) void this.#idle()
  }

  async #idle() {
    const { imap } = this.#client
    const startedMs = this.#clock.monotonic()
    // A failure shows as the connection's end, or as a refusal right away.
    await imap.idle().catch(() => false)
    const endedByItself = !this.#closed && imap.usable && this.#working === 0
    if (!endedByItself) return
    this.#refusals = this.#clock.monotonic() - startedMs < REFUSED_MS ? this.#refusals + 1 : 0
    this.#listen()
  }

  /** Ends the IDLE (so it is renewed long before 29 minutes) and asks for a sign of life; news come along with it. */
  async #check() {
    if (this.#closed || this.#working > 0) return
    const late = () => timedOut('the standing connection', this.#options.answerMs)
    try {
      await this.#doing('asking for a sign of life', ({ imap }) =>
        withTimeout(imap.noop(), this.#options.answerMs, late),
      )
    } catch (error) {
      this.#verdict ??= error
      this.#client.imap.close()
    }
  }

  #onClosed() {
    clearTimeout(this.#nextCheck)
    if (this.#closed) return
    this.#closed = true
    const reason = this.#reason()
    const closed = connectionLost('the server closed the connection')
    this.#events.onClose(reason === undefined ? closed : providerError(reason, 'the standing connection'))
  }

  #reason(): unknown {
    return this.#verdict ?? this.#client.failure()
  }

  async #hasChanged(imap: ImapClient['imap'], path: string, cursorText: string | null): Promise<boolean> {
    const query = { messages: true, unseen: true, uidNext: true, uidValidity: true, highestModseq: true }
    const status = await imap.status(path, query).catch((error) => {
      if (providerError(error, '').kind === 'not_found') return false as const
      throw error
    })
    if (!status) return false
    if (cursorText === null) return true
    const cursor = readableCursor(cursorText)
    if (cursor === undefined) return true
    if (String(status.uidValidity) !== cursor.uidValidity || cursor.pending !== null) return true
    if (status.uidNext !== undefined && status.uidNext !== cursor.uidNext) return true
    if (cursor.modseq !== null && status.highestModseq !== undefined)
      return String(status.highestModseq) !== cursor.modseq
    const countsDiffer = status.messages !== cursor.exists || status.unseen !== cursor.unseen
    return countsDiffer || !this.#clean.has(path) || this.#clock.now() - cursor.comparedAt > RECOMPARE_MS
  }
}

/** One that cannot be read counts as changed: the reading that follows says what is wrong. */
function readableCursor(text: string) {
  try {
    return readCursor(text)
  } catch {
    return undefined
  }
}
