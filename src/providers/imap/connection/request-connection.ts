import type { MailboxObject } from 'imapflow'
import { untilAborted } from '../../../platform/concurrency/abort.ts'
import { type MailAccess, ProviderError } from '../../contract/index.ts'
import { connectionLost, notBegun, providerError, timeoutError } from '../errors.ts'
import { acceptFlagsInAnyCase } from '../messages/flags.ts'
import { type Dialing, dial, type ImapClient, LARGEST_LITERAL_BYTES } from './client.ts'
import { type WorkLimits, withinLimits } from './work-limits.ts'

/** Limit the data that the server may send while nothing was requested. */
const IDLE_LINES = 10_000
const IDLE_BYTES = 1024 * 1024

interface RequestConnectionOptions {
  /** The connection closes after this long without work. */
  idleMs: number
  /** How long work waits for its turn and the connection. */
  waitMs: number
  /** For tasks without limits of their own. */
  work: WorkLimits
}

/** The account's sync connection, for servers that allow a mailbox one connection. */
export interface SharedConnection {
  /** The server refused a second connection a moment ago. */
  readonly isOnlyOne: boolean
  refusedAnother(): void
  /** Runs work that may select any folder when it is its turn, and selects the watched one again. */
  lend<T>(doing: string, work: (client: ImapClient) => Promise<T>): Promise<T>
}

interface Task {
  doing: string
  signal?: AbortSignal
  limits?: WorkLimits
  /** How long the task may take, waiting included. */
  deadlineMs?: number
  /** Its work changes something, so it must not begin twice. */
  isChange?: boolean
}

interface FolderTask<T> extends Task {
  /** Opens the folder again. Otherwise its state may be as old as the connection. A change always opens it. */
  fresh?: boolean
  /** The last UIDVALIDITY that the caller knows of the folder. */
  uidValidity?: string | undefined
  work(client: ImapClient, box: MailboxObject): Promise<T>
}

/**
 * The request connection of one account: opened on demand, used by one task at a time, closed when idle. A task that fails because
 * an idle connection had ended unnoticed runs again on a new one; a change does so only before its work has begun. Where the server
 * refuses the connection because of the sync connection, tasks use that one.
 */
export class RequestConnection {
  readonly #access: MailAccess
  readonly #dialing: Dialing
  readonly #options: RequestConnectionOptions
  readonly #onIdle: () => void
  readonly #shared: () => SharedConnection | undefined
  readonly #closing = new AbortController()
  #client: ImapClient | undefined
  #tail: Promise<unknown> = Promise.resolve()
  #waiting = 0
  #idleTimer: NodeJS.Timeout | undefined
  #stopCounting = () => {}

  /** Calls `onIdle` once, when the connection has closed itself for lack of work. `shared` returns the open sync connection. */
  constructor(
    access: MailAccess,
    dialing: Dialing,
    options: RequestConnectionOptions,
    { onIdle, shared }: { onIdle: () => void; shared: () => SharedConnection | undefined },
  ) {
    this.#access = access
    this.#dialing = dialing
    this.#options = options
    this.#onIdle = onIdle
    this.#shared = shared
  }

  /** Bytes received on the open connection; 0 without one. */
  get receivedBytes(): number {
    return this.#client?.imap.stats().received ?? 0
  }

  get #host(): string | undefined {
    return this.#access.settings.imap?.host
  }

  get isClosed(): boolean {
    return this.#closing.signal.aborted
  }

  /** Runs a task with this folder selected, read-only unless it is a change. Throws like `use`, and `not_found`. */
  useFolder<T>(path: string, { fresh = false, uidValidity, work, ...task }: FolderTask<T>): Promise<T> {
    const open = ({ imap, folders }: ImapClient) =>
      task.isChange ? imap.mailboxOpen(path, { readOnly: false }) : folders.open(path, { fresh, uidValidity })
    return this.use({ ...task, prepare: async (client) => acceptFlagsInAnyCase(await open(client)), work })
  }

  /**
   * Runs a task when it is its turn; `prepare` counts as waiting. Throws `ProviderError`: `unavailable` with `timedOut` when the turn or
   * the connection does not come in time, and with `notBegun` when the work did not begin.
   */
  async use<P, T>(
    task: Task & { prepare(client: ImapClient): Promise<P>; work(client: ImapClient, prepared: P): Promise<T> },
  ): Promise<T> {
    if (this.isClosed) throw connectionLost('the connection was closed')
    const { waitMs, work } = this.#options
    const wait = AbortSignal.timeout(waitMs)
    const { deadlineMs, limits = work } = task
    const deadline = deadlineMs === undefined ? undefined : AbortSignal.timeout(deadlineMs)
    const signals = [task.signal, deadline].filter((signal) => signal !== undefined)
    const signal = AbortSignal.any([wait, this.#closing.signal, ...signals])
    const release = await this.#acquire(signal, task.doing, wait)
    let isReady = false
    try {
      const mayRepeat = () => task.isChange !== true || !isReady
      return await this.#withClient({ doing: task.doing, signal, deadline }, mayRepeat, (client, isShared) => {
        // Nothing but its own limits ends the connection that sync needs.
        const ends = isShared ? undefined : { prepare: signal, work: deadline }
        const prepareAndWork = async () => {
          const prepared = await closeOnAbort(ends?.prepare, client, task.prepare(client))
          isReady = true
          return closeOnAbort(ends?.work, client, task.work(client, prepared))
        }
        return withinLimits(client, limits, task.doing, prepareAndWork())
      })
    } catch (error) {
      const failure = () => {
        if (deadline?.aborted && deadlineMs !== undefined) return timeoutError(task.doing, deadlineMs, this.#host)
        if (wait.aborted && !isReady) return timeoutError(task.doing, waitMs, this.#host)
        return providerError(error, task.doing)
      }
      throw isReady ? failure() : notBegun(failure())
    } finally {
      release()
    }
  }

  close(): void {
    this.#closing.abort(connectionLost('the connection was closed'))
    clearTimeout(this.#idleTimer)
    this.#stopCounting()
    this.#client?.imap.close()
    this.#client = undefined
  }

  /** Waits for the turn and returns the function that ends it. A caller that gives up does not change the order of the others. */
  async #acquire(signal: AbortSignal, doing: string, wait: AbortSignal): Promise<() => void> {
    clearTimeout(this.#idleTimer)
    this.#stopCounting()
    this.#waiting += 1
    const before = this.#tail
    let pass = () => {}
    this.#tail = new Promise<void>((resolve) => {
      pass = resolve
    })
    const release = () => {
      void before.then(pass)
      this.#waiting -= 1
      if (this.#waiting === 0 && !this.isClosed) this.#closeWhenIdle()
    }
    await Promise.race([before, aborted(signal)])
    if (!signal.aborted) return release
    release()
    throw notBegun(
      wait.aborted ? timeoutError(doing, this.#options.waitMs, this.#host) : providerError(signal.reason, doing),
    )
  }

  /** Runs the task on this connection, or on the sync connection where the server allows no second one. */
  async #withClient<T>(limits: Waiting, mayRepeat: () => boolean, attempt: Attempt<T>): Promise<T> {
    const shared = this.#shared()
    if (shared?.isOnlyOne && this.#client?.imap.usable !== true) return lend(shared, limits, attempt)
    let hasBegun = false
    try {
      return await this.#withRetry(limits.signal, mayRepeat, (client) => {
        hasBegun = true
        return attempt(client, false)
      })
    } catch (error) {
      const current = this.#shared()
      if (hasBegun || current === undefined || limits.signal.aborted || !isRefusedConnection(error)) throw error
      if (error.kind === 'rate_limited') current.refusedAnother()
      return lend(current, limits, attempt)
    }
  }

  async #withRetry<T>(
    signal: AbortSignal,
    mayRepeat: () => boolean,
    attempt: (client: ImapClient) => Promise<T>,
  ): Promise<T> {
    const reused = this.#client?.imap.usable ? this.#client : undefined
    if (reused !== undefined) {
      try {
        return await attempt(reused)
      } catch (error) {
        if (reused.imap.usable || signal.aborted || !mayRepeat()) throw error
      }
    }
    const client = await this.#dial(signal)
    this.#client = client
    if (this.isClosed) client.imap.close()
    return attempt(client)
  }

  #dial(signal: AbortSignal): Promise<ImapClient> {
    const { waitMs } = this.#options
    const options = { urgent: true, timeoutMs: waitMs, literalBytes: LARGEST_LITERAL_BYTES, signal }
    return dial(this.#access, this.#dialing, options)
  }

  #closeWhenIdle() {
    clearTimeout(this.#idleTimer)
    this.#idleTimer = setTimeout(() => {
      this.close()
      this.#onIdle()
    }, this.#options.idleMs)
    const client = this.#client
    if (client === undefined) return
    const start = client.traffic()
    this.#stopCounting = client.onTraffic(({ lines, bytes }) => {
      if (lines - start.lines > IDLE_LINES || bytes - start.bytes > IDLE_BYTES) client.imap.close()
    })
  }
}

type Attempt<T> = (client: ImapClient, isShared: boolean) => Promise<T>

interface Waiting {
  doing: string
  /** Ends the wait for the turn. */
  signal: AbortSignal
  /** Ends the wait for the result. */
  deadline: AbortSignal | undefined
}

/** The sync connection is open, so that the server can be reached. Some servers refuse a connection by closing it. */
function isRefusedConnection(error: unknown): error is ProviderError {
  if (!(error instanceof ProviderError)) return false
  return error.kind === 'rate_limited' || (error.kind === 'unavailable' && !error.timedOut)
}

/** Work that has begun goes on when the caller gives up. */
async function lend<T>(
  shared: SharedConnection,
  { doing, signal, deadline }: Waiting,
  attempt: Attempt<T>,
): Promise<T> {
  const giveUp = new AbortController()
  const stopWaiting = () => giveUp.abort(signal.reason)
  signal.addEventListener('abort', stopWaiting, { once: true })
  const done = shared.lend(doing, (client) => {
    giveUp.signal.throwIfAborted()
    signal.removeEventListener('abort', stopWaiting)
    const endLimit = client.gate.allowLiterals(LARGEST_LITERAL_BYTES)
    return attempt(client, true).finally(endLimit)
  })
  const ends = [giveUp.signal, deadline].filter((signal) => signal !== undefined)
  return untilAborted(done, AbortSignal.any(ends))
}

/** Closes the connection on abort: a server may accept the login and then never respond. */
async function closeOnAbort<T>(signal: AbortSignal | undefined, { imap }: ImapClient, work: Promise<T>): Promise<T> {
  if (signal === undefined) return work
  const close = () => imap.close()
  signal.addEventListener('abort', close, { once: true })
  try {
    return await work
  } finally {
    signal.removeEventListener('abort', close)
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
