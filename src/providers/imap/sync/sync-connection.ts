import type { MailboxObject } from 'imapflow'
import { withTimeout } from '../../../platform/concurrency/abort.ts'
import { concurrencyLimit } from '../../../platform/concurrency/limit.ts'
import { replaceFailure } from '../../../platform/errors/programming-errors.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import type { FolderWatch } from '../../contract/index.ts'
import type { ImapClient, Traffic } from '../connection/client.ts'
import { type WorkLimits, withinLimits } from '../connection/work-limits.ts'
import { connectionLost, providerError, timeoutError } from '../errors.ts'
import type { OpenOptions } from '../folders/folder-opener.ts'
import { type Listing, listWithStates } from '../folders/folders.ts'
import { FloodGauge, type FloodLimit, floodError } from './flood.ts'
import { FolderPolls, type SerialServers } from './folder-polls.ts'

export interface SyncConnectionOptions {
  checkIntervalMs: number
  checkTimeoutMs: number
  work: WorkLimits
  pollIntervalMs: number
  flood: FloodLimit
  serial: SerialServers
}

interface SyncConnectionEvents {
  /** The server reported a change of this folder. `isUncounted`: the folder's counts may not show it. */
  onChange(path: string, isUncounted: boolean): void
  onClose(error: unknown): void
}

export type FolderWork<T> = (client: ImapClient, box: MailboxObject) => Promise<T>

/** An IDLE that ends by itself this soon was refused, not interrupted. */
const REFUSED_IDLE_MS = 1000
const MAX_REFUSALS = 3
const SELECTING = 'selecting the watched folder'
/** A server that announces IDLE and then reports nothing is asked as often as this. */
const REFRESH_MS = 5 * 60_000
/** How long to wait for more commands before an IDLE that they would end. */
const MORE_FOLLOWS_MS = 200
/** With more folders, the states of the synced ones are cheaper to read one by one. */
const FEW_FOLDERS = 50

/**
 * The connection that sync works through. It keeps the watched folder selected, runs commands when asked, and returns to IDLE as soon as
 * they are done.
 *
 *   IDLE ──EXISTS──→ onChange ─→ syncFolder: one FETCH ─→ IDLE
 *     ├─ list: DONE, LIST and IDLE at once; DONE answered within checkTimeoutMs, all within silenceMs, else onClose
 *     ├─ any command: DONE, answered within checkTimeoutMs, else onClose
 *     └─ no command for checkIntervalMs: NOOP, answered within checkTimeoutMs, else onClose
 */
export class SyncConnection {
  readonly #client: ImapClient
  readonly #clock: Clock
  readonly #options: SyncConnectionOptions
  readonly #events: SyncConnectionEvents
  /** The watched folder; before `watch` the one to select first. */
  #folder: string
  #isWatching = false
  #running = 0
  /** An IDLE is in progress, also while a command waits for its end. */
  #isIdling = false
  #isClosed = false
  #idleRefusals = 0
  #refreshedAtMs: number
  #nextCheck: NodeJS.Timeout | undefined
  #nextIdle: NodeJS.Timeout | undefined
  #idleEnd: NodeJS.Timeout | undefined
  readonly #flood: FloodGauge
  #counted: Traffic
  readonly #polls: FolderPolls
  /** For work that needs a selected folder. */
  readonly #oneAtATime = concurrencyLimit(1)

  constructor(
    client: ImapClient,
    deps: { folder: string; clock: Clock; options: SyncConnectionOptions; events: SyncConnectionEvents },
  ) {
    this.#client = client
    this.#folder = deps.folder
    this.#clock = deps.clock
    this.#options = deps.options
    this.#events = deps.events
    const { checkTimeoutMs, serial, work } = deps.options
    this.#polls = new FolderPolls(client, { checkTimeoutMs, silenceMs: work.silenceMs, serial })
    const { imap } = client
    imap.on('exists', ({ path }) => this.#events.onChange(path, false))
    imap.on('expunge', (event) => {
      if (!event.vanished || !event.earlier) this.#events.onChange(event.path, true)
    })
    imap.on('flags', ({ path }) => this.#events.onChange(path, true))
    imap.on('close', () => this.#onClosed())
    this.#flood = new FloodGauge(deps.options.flood, deps.clock.monotonic())
    this.#refreshedAtMs = deps.clock.monotonic()
    this.#counted = client.traffic()
    client.onTraffic((total) => this.#countUnasked(total))
    this.#listen()
  }

  get folder(): string {
    return this.#folder
  }

  get receivedBytes(): number {
    return this.#client.traffic().bytes
  }

  get #canIdle(): boolean {
    return this.#client.imap.capabilities.has('IDLE') && this.#idleRefusals < MAX_REFUSALS
  }

  get hasCondstore(): boolean {
    return this.#client.imap.enabled.has('CONDSTORE')
  }

  get storesOnSelect(): boolean {
    return this.#client.folders.storesOnSelect
  }

  isWatched(path: string): boolean {
    return this.#isWatching && !this.#isClosed && path === this.#folder
  }

  async watch(path: string): Promise<FolderWatch> {
    const { imap } = this.#client
    if (this.isWatched(path) && imap.usable && imap.mailbox && imap.mailbox.path === path) {
      if (!imap.idling) this.#listen()
    } else {
      this.#folder = path
      this.#isWatching = true
      await this.#oneAtATime(() => this.run(SELECTING, ({ folders }) => folders.open(path), { moreFollows: true }))
    }
    return this.#canIdle ? 'idle' : 'poll'
  }

  /**
   * Runs commands that need no selected folder. imapflow ends the IDLE before them; the connection re-enters it afterwards. With
   * `moreFollows` it waits a moment for the caller's next command.
   */
  async run<T>(doing: string, work: (client: ImapClient) => Promise<T>, { moreFollows = false } = {}): Promise<T> {
    if (this.#polls.running !== undefined) await this.#polls.running
    if (this.#isClosed || !this.#client.imap.usable) {
      throw providerError(this.#client.failure() ?? connectionLost(`${doing}: the connection is closed`), doing)
    }
    this.#running += 1
    clearTimeout(this.#nextCheck)
    this.#expectEndOfIdle(doing)
    try {
      return await withinLimits(this.#client, this.#options.work, doing, work(this.#client))
    } catch (error) {
      throw providerError(error, doing)
    } finally {
      this.#running -= 1
      // Nothing was sent, so the IDLE goes on.
      if (this.#client.imap.idling) this.#clearIdleEnd()
      this.#listen(moreFollows ? MORE_FOLLOWS_MS : 0)
    }
  }

  /**
   * Every folder, with its state where there are few. Usually the server lists what it listed last, which needs no command of imapflow.
   * `expected`: how many folders there were before this connection.
   */
  async list(expected: number | undefined): Promise<Listing> {
    const withStates = (this.#client.listed ?? expected ?? Number.POSITIVE_INFINITY) <= FEW_FOLDERS
    const isIdle = this.#isWatching && this.#isIdling && this.#running === 0 && !this.#isClosed
    const repeated = withStates && isIdle ? await this.#poll() : undefined
    if (repeated !== undefined) return repeated
    const list = async (client: ImapClient) => {
      if (withStates && this.#isWatching) await this.#refresh()
      return listWithStates(client, withStates)
    }
    return this.run('listing the folders', list, { moreFollows: true })
  }

  async #poll(): Promise<Listing | undefined> {
    const poll = this.#polls.start()
    try {
      return await poll
    } finally {
      if (poll !== undefined && !this.#isClosed && this.#running === 0) this.#checkLater()
    }
  }

  /** Lets the server look for changes of the watched folder before its state is read, where the next IDLE does not report them. */
  async #refresh(): Promise<void> {
    const nowMs = this.#clock.monotonic()
    if (this.#canIdle && nowMs - this.#refreshedAtMs < REFRESH_MS) return
    this.#refreshedAtMs = nowMs
    await this.#client.imap.noop()
  }

  /** Runs commands with this folder selected. */
  inFolder<T>(path: string, doing: string, work: FolderWork<T>, options: OpenOptions = {}): Promise<T> {
    return this.#oneAtATime(() =>
      this.run(doing, async (client) => work(client, await client.folders.open(path, options))),
    )
  }

  /** Runs work that may select folders. Then selects the watched one again, and reports a change if it changed meanwhile. */
  lend<T>(doing: string, work: (client: ImapClient) => Promise<T>): Promise<T> {
    return this.#oneAtATime(() =>
      this.run(doing, async (client) => {
        const before = client.imap.mailbox
        try {
          return await work(client)
        } finally {
          if (client.imap.mailbox !== before) await this.#selectWatched(before)
        }
      }),
    )
  }

  /** `before`: what was selected when its state was last known. */
  async #selectWatched(before: MailboxObject | false): Promise<void> {
    const { imap, folders } = this.#client
    if (!this.isWatched(this.#folder) || !imap.usable) return
    const stateBefore = before && before.path === this.#folder ? formatState(before) : undefined
    const box = await folders.open(this.#folder, { fresh: true }).catch(replaceFailure(undefined))
    if (box === undefined || formatState(box) !== stateBefore) this.#events.onChange(this.#folder, true)
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#clearTimers()
    this.#client.imap.close()
  }

  #listen(idleAfterMs = 0) {
    if (this.#isClosed || this.#running > 0) return
    this.#checkLater()
    // Delayed, because work that follows at once would have to end the IDLE again, which costs a round trip.
    clearTimeout(this.#nextIdle)
    if (this.#isWatching && this.#canIdle) this.#nextIdle = setTimeout(() => void this.#idle(), idleAfterMs)
  }

  #checkLater() {
    const { checkIntervalMs, pollIntervalMs } = this.#options
    const isPolled = this.#isWatching && !this.#canIdle
    clearTimeout(this.#nextCheck)
    this.#nextCheck = setTimeout(
      () => void this.#check(),
      isPolled ? Math.min(pollIntervalMs, checkIntervalMs) : checkIntervalMs,
    )
  }

  async #idle() {
    const { imap } = this.#client
    if (this.#isClosed || this.#running > 0 || !imap.usable || !imap.mailbox || imap.idling) return
    const startedMs = this.#clock.monotonic()
    this.#isIdling = true
    // A failure ends the connection, or shows as an IDLE that ends right away.
    await imap.idle().catch(() => false)
    this.#isIdling = false
    this.#clearIdleEnd()
    const endedByItself = !this.#isClosed && imap.usable && this.#running === 0
    if (!endedByItself) return
    this.#idleRefusals = this.#clock.monotonic() - startedMs < REFUSED_IDLE_MS ? this.#idleRefusals + 1 : 0
    this.#listen()
  }

  /** A connection that broke unnoticed shows here: the end of an IDLE takes the server no work. */
  #expectEndOfIdle(doing: string) {
    if (!this.#isIdling || this.#idleEnd !== undefined) return
    const { checkTimeoutMs } = this.#options
    this.#idleEnd = setTimeout(() => this.#client.closeWith(timeoutError(doing, checkTimeoutMs)), checkTimeoutMs)
  }

  #clearIdleEnd() {
    clearTimeout(this.#idleEnd)
    this.#idleEnd = undefined
  }

  /** Sends NOOP, which ends the IDLE (so it is renewed long before 29 minutes) and reports changes. */
  async #check() {
    if (this.#isClosed || this.#running > 0 || this.#polls.running !== undefined) return
    const { checkTimeoutMs } = this.#options
    const doing = 'checking the sync connection'
    const timedOut = () => timeoutError(doing, checkTimeoutMs)
    try {
      await this.run(doing, ({ imap }) => withTimeout(imap.noop(), checkTimeoutMs, timedOut))
    } catch (error) {
      this.#client.closeWith(error)
    }
  }

  /** Counts what arrives while no command runs, and until a command has ended the IDLE: a server that never stops sending would take an entire CPU. */
  #countUnasked(total: Traffic) {
    const { lines, bytes } = this.#counted
    this.#counted = total
    if ((this.#running > 0 && !this.#isIdling) || this.#isClosed) return
    const isFlood = this.#flood.add(total.lines - lines, total.bytes - bytes, this.#clock.monotonic())
    if (isFlood) this.#client.closeWith(floodError())
  }

  #onClosed() {
    this.#clearTimers()
    this.#polls.abandon()
    if (this.#isClosed) return
    this.#isClosed = true
    this.#events.onClose(this.#client.failure())
  }

  #clearTimers() {
    for (const timer of [this.#nextCheck, this.#nextIdle, this.#idleEnd]) clearTimeout(timer)
  }
}

function formatState(box: MailboxObject): string {
  return [box.uidValidity, box.exists, box.uidNext, box.highestModseq].join('.')
}
