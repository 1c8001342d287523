import type { MailboxObject } from 'imapflow'
import { withTimeout } from '../../lib/abort.ts'
import type { Clock } from '../../lib/clock.ts'
import type { FolderSession, FolderStep, FolderSyncRequest, RemoteFolder, SessionEvents } from '../contract/index.ts'
import type { Cautions } from './caution.ts'
import { type ImapClient, whileHeard } from './client.ts'
import { connectionLost, providerError, timedOut } from './errors.ts'
import { listUids, uidSet } from './fetch.ts'
import { type FloodAllowance, FloodGauge, flooded } from './flood.ts'
import { hasChanged } from './folder-state.ts'
import { listFolders } from './folders.ts'
import type { Lane } from './lane.ts'
import { folderSteps } from './sync-folder.ts'

export interface SessionOptions {
  /** A connection that was silent so long is asked whether it still lives. */
  checkEveryMs: number
  /** How long it may take to answer that. */
  answerMs: number
  /** How long nothing at all may be heard while other work waits. */
  silenceMs: number
  /** How often a server without IDLE is asked for news. */
  pollEveryMs: number
  /** Messages of one step of `syncFolder`. */
  stepMessages: number
  /** What the server may say while nothing was asked. */
  flood: FloodAllowance
}

export interface SessionDeps {
  accountId: string
  /** The account's operations connection, as it is now. */
  lane: () => Lane
  cautions: Cautions
  clock: Clock
  options: SessionOptions
}

/** IDLE that ends by itself so soon was refused, not interrupted. */
const REFUSED_MS = 1000
const REFUSALS = 3
/** After a server allowed no second connection, the next try. */
const ALONE_MS = 10 * 60_000
const PRESENT_STEP = 500

/**
 * The standing connection of one account. It stays on the watched folder, works there when asked, and listens the moment
 * the work is done; other folders are read on the account's operations connection.
 *
 *   IDLE ──EXISTS──→ onChange ─→ syncFolder: one FETCH ─→ IDLE
 *     └─ silent for checkEveryMs: NOOP, answered within answerMs, else onClose
 */
export class ImapSession implements FolderSession {
  readonly #client: ImapClient
  readonly #accountId: string
  readonly #lane: () => Lane
  readonly #cautions: Cautions
  readonly #events: SessionEvents
  readonly #clock: Clock
  readonly #options: SessionOptions
  #home: string
  #watching = false
  #working = 0
  #closed = false
  /** Folders compared in this session, with nothing heard since that only a comparison shows. */
  readonly #clean = new Set<string>()
  #refusals = 0
  #aloneUntilMs = Number.NEGATIVE_INFINITY
  #nextCheck: NodeJS.Timeout | undefined
  #nextIdle: NodeJS.Immediate | undefined
  readonly #flood: FloodGauge
  #received: number
  /** Work that needs a certain folder selected goes one at a time. */
  #selection: Promise<unknown> = Promise.resolve()

  /** `home` is the folder selected first; `watch` may name another. */
  constructor(client: ImapClient, home: string, events: SessionEvents, deps: SessionDeps) {
    this.#client = client
    this.#home = home
    this.#events = events
    this.#accountId = deps.accountId
    this.#lane = deps.lane
    this.#cautions = deps.cautions
    this.#clock = deps.clock
    this.#options = deps.options
    const { imap } = client
    imap.on('exists', ({ path }) => this.#notice(path, false))
    imap.on('expunge', (event) => (event.vanished && event.earlier ? undefined : this.#notice(event.path, true)))
    imap.on('flags', ({ path }) => this.#notice(path, true))
    imap.on('close', () => this.#onClosed())
    this.#flood = new FloodGauge(deps.options.flood, deps.clock.monotonic())
    this.#received = imap.stats().received
    client.onLine = () => this.#weigh()
    this.#listen()
  }

  async listFolders(): Promise<RemoteFolder[]> {
    return this.#doing('listing the folders', ({ imap }) => listFolders(imap))
  }

  async changedFolders(folders: readonly { path: string; cursor: string | null }[]): Promise<string[]> {
    const doing = 'looking at a folder'
    const changed: string[] = []
    // The selected folder is seen as of the server's last word about it.
    if (folders.some(({ path }) => path === this.#home)) await this.#doing(doing, ({ imap }) => imap.noop())
    for (const { path, cursor } of folders) {
      const context = { isClean: this.#clean.has(path), nowMs: this.#clock.now() }
      if (await this.#doing(doing, ({ imap }) => hasChanged(imap, path, cursor, context))) changed.push(path)
    }
    return changed
  }

  async *syncFolder(request: FolderSyncRequest): AsyncGenerator<FolderStep> {
    const { path, signal } = request
    const doing = 'reading a folder'
    const suspect = () => {
      const isSuspect = !this.#clean.has(path)
      this.#clean.add(path)
      return isSuspect
    }
    const context = {
      hold: <T>(work: (client: ImapClient, box: MailboxObject) => Promise<T>) => this.#at(path, doing, work, signal),
      suspect,
      now: () => this.#clock.now(),
      step: this.#options.stepMessages,
      caution: this.#cautions.of(this.#accountId, path),
    }
    try {
      yield* folderSteps(request, context)
      this.#cautions.passed(this.#accountId, path)
    } catch (error) {
      this.#clean.delete(path)
      throw providerError(error, doing)
    }
  }

  async presentUids(folderPath: string, uidValidity: string, uids: readonly number[]): Promise<number[]> {
    const wanted = [...uids].sort((left, right) => left - right)
    const look = async ({ imap }: ImapClient, box: MailboxObject) => {
      if (String(box.uidValidity) !== uidValidity) return []
      await imap.noop()
      const present: number[] = []
      // So many at once that the command's line stays short.
      for (let at = 0; at < wanted.length; at += PRESENT_STEP) {
        present.push(...(await listUids(imap, { uid: uidSet(wanted.slice(at, at + PRESENT_STEP)) })))
      }
      return present
    }
    try {
      return await this.#at(folderPath, 'looking for messages', look)
    } catch (error) {
      const failure = providerError(error, 'looking for messages')
      if (failure.kind === 'not_found') return []
      throw failure
    }
  }

  async watch(folderPath: string): Promise<void> {
    this.#home = folderPath
    this.#watching = true
    await this.#selected(folderPath, 'selecting the watched folder', async () => {})
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    clearTimeout(this.#nextCheck)
    clearImmediate(this.#nextIdle)
    this.#client.imap.close()
  }

  #notice(path: string, onlyComparisonShows: boolean) {
    if (onlyComparisonShows) this.#clean.delete(path)
    if (this.#watching && path === this.#home && !this.#closed) this.#events.onChange(path)
  }

  /** Here for the watched folder, else on the operations connection; here too where the server allows no second one. */
  async #at<T>(
    path: string,
    doing: string,
    work: (client: ImapClient, box: MailboxObject) => Promise<T>,
    signal?: AbortSignal,
  ): Promise<T> {
    if (path === this.#home) return this.#selected(path, doing, work)
    if (this.#clock.monotonic() >= this.#aloneUntilMs) {
      try {
        return await this.#lane().useFolder(path, { fresh: true, doing, work, ...(signal && { signal }) })
      } catch (error) {
        if (providerError(error, doing).kind !== 'rate_limited') throw error
        this.#aloneUntilMs = this.#clock.monotonic() + ALONE_MS
      }
    }
    return this.#away(path, doing, work)
  }

  #selected<T>(path: string, doing: string, work: (client: ImapClient, box: MailboxObject) => Promise<T>): Promise<T> {
    const turn = this.#selection.then(() =>
      this.#doing(doing, async (client) => {
        const { imap } = client
        const selected = imap.mailbox && imap.mailbox.path === path ? imap.mailbox : undefined
        return work(client, selected ?? (await imap.mailboxOpen(path, { readOnly: true })))
      }),
    )
    this.#selection = turn.catch(() => {})
    return turn
  }

  /** Leaves the watched folder for one piece of work; what happened there meanwhile shows on the way back. */
  async #away<T>(
    path: string,
    doing: string,
    work: (client: ImapClient, box: MailboxObject) => Promise<T>,
  ): Promise<T> {
    const home = this.#client.imap.mailbox
    const before = home && home.path === this.#home ? stateOf(home) : undefined
    try {
      return await this.#selected(path, doing, work)
    } finally {
      if (this.#watching && !this.#closed && this.#client.imap.usable) {
        const back = this.#selected(this.#home, 'selecting the watched folder', async (_client, box) => stateOf(box))
        const after = await back.catch(() => undefined)
        if (after !== before) this.#notice(this.#home, true)
      }
    }
  }

  /** Runs commands; imapflow breaks the IDLE before them, we go back to it right after. */
  async #doing<T>(doing: string, work: (client: ImapClient) => Promise<T>): Promise<T> {
    if (this.#closed || !this.#client.imap.usable) throw connectionLost(`${doing}: the connection is gone`)
    this.#working += 1
    clearTimeout(this.#nextCheck)
    try {
      return await whileHeard(this.#client, this.#options.silenceMs, doing, work(this.#client))
    } catch (error) {
      throw providerError(error, doing)
    } finally {
      this.#working -= 1
      this.#listen()
    }
  }

  #listen() {
    if (this.#closed || this.#working > 0) return
    const { imap } = this.#client
    const { checkEveryMs, pollEveryMs } = this.#options
    const canIdle = imap.capabilities.has('IDLE') && this.#refusals < REFUSALS
    const isPolled = this.#watching && !canIdle
    clearTimeout(this.#nextCheck)
    this.#nextCheck = setTimeout(
      () => void this.#check(),
      isPolled ? Math.min(pollEveryMs, checkEveryMs) : checkEveryMs,
    )
    // Work that goes on in a moment must not first end an IDLE that has only just begun: that costs a round trip.
    clearImmediate(this.#nextIdle)
    if (this.#watching && canIdle) this.#nextIdle = setImmediate(() => void this.#idle())
  }

  async #idle() {
    const { imap } = this.#client
    if (this.#closed || this.#working > 0 || !imap.usable || !imap.mailbox || imap.idling) return
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
    const { answerMs } = this.#options
    const late = () => timedOut('the standing connection', answerMs)
    try {
      await this.#doing('the standing connection', ({ imap }) => withTimeout(imap.noop(), answerMs, late))
    } catch (error) {
      this.#client.giveUp(error)
    }
  }

  /** What comes during work was asked for. All else is counted: a server that never stops would take a whole processor. */
  #weigh() {
    const before = this.#received
    this.#received = this.#client.imap.stats().received
    if (this.#working > 0 || this.#closed) return
    const isFlood = this.#flood.heard(1, this.#received - before, this.#clock.monotonic())
    if (isFlood) this.#client.giveUp(flooded())
  }

  #onClosed() {
    clearTimeout(this.#nextCheck)
    if (this.#closed) return
    this.#closed = true
    const reason = this.#client.failure()
    const closed = connectionLost('the server closed the connection')
    this.#events.onClose(reason === undefined ? closed : providerError(reason, 'the standing connection'))
  }
}

function stateOf(box: MailboxObject): string {
  return [box.uidValidity, box.exists, box.uidNext, box.highestModseq].join('.')
}
