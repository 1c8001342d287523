import type { MailboxObject } from 'imapflow'
import type { MailAccess } from '../contract/index.ts'
import { type Dialling, dial, type ImapClient, whileHeard } from './client.ts'
import { connectionLost, providerError, timedOut } from './errors.ts'

export interface LaneOptions {
  /** Closed after so long without work. */
  idleMs: number
  /** How long a piece of work waits for its turn and the connection. */
  waitMs: number
  silenceMs: number
}

interface Task {
  doing: string
  signal?: AbortSignal
}

export interface FolderTask<T> extends Task {
  /** Select anew: else the folder is seen as of the last word of the server, maybe as old as the connection. */
  fresh?: boolean
  work(client: ImapClient, box: MailboxObject): Promise<T>
}

/**
 * The operations connection of one account: opened when there is work, one piece at a time, closed when idle. Work is
 * only reading: what fails because an idle connection had died unnoticed is done once more on a new one.
 */
export class Lane {
  readonly #access: MailAccess
  readonly #dialling: Dialling
  readonly #options: LaneOptions
  readonly #onIdle: () => void
  readonly #closing = new AbortController()
  #client: ImapClient | undefined
  #tail: Promise<unknown> = Promise.resolve()
  #waiting = 0
  #idleTimer: NodeJS.Timeout | undefined

  /** `onIdle` is called once, when the lane closed itself for want of work. */
  constructor(access: MailAccess, dialling: Dialling, options: LaneOptions, onIdle: () => void) {
    this.#access = access
    this.#dialling = dialling
    this.#options = options
    this.#onIdle = onIdle
  }

  get isClosed(): boolean {
    return this.#closing.signal.aborted
  }

  /** With this folder selected (for reading only). Throws as `use`, and `not_found`. */
  useFolder<T>(path: string, { fresh = false, work, ...task }: FolderTask<T>): Promise<T> {
    return this.use({
      ...task,
      prepare: async ({ imap }) => {
        const selected = imap.mailbox && imap.mailbox.path === path && !fresh ? imap.mailbox : undefined
        return selected ?? imap.mailboxOpen(path, { readOnly: true })
      },
      work,
    })
  }

  /**
   * `prepare` counts as waiting. Throws `ProviderError`; `unavailable` with `timedOut` when the turn or the connection
   * did not come in time.
   */
  async use<P, T>(
    task: Task & { prepare(client: ImapClient): Promise<P>; work(client: ImapClient, prepared: P): Promise<T> },
  ): Promise<T> {
    if (this.isClosed) throw connectionLost('the connection was closed')
    const { waitMs, silenceMs } = this.#options
    const wait = AbortSignal.timeout(waitMs)
    const signal = AbortSignal.any([wait, this.#closing.signal, ...(task.signal ? [task.signal] : [])])
    const leave = await this.#enter(signal, task.doing, wait)
    let isReady = false
    try {
      return await this.#twice(signal, async (client) => {
        const prepared = await hangUpOn(signal, client, task.prepare(client))
        isReady = true
        return whileHeard(client, silenceMs, task.doing, task.work(client, prepared))
      })
    } catch (error) {
      if (wait.aborted && !isReady) throw timedOut(task.doing, waitMs)
      throw providerError(error, task.doing)
    } finally {
      leave()
    }
  }

  close(): void {
    this.#closing.abort(connectionLost('the connection was closed'))
    clearTimeout(this.#idleTimer)
    this.#client?.imap.close()
    this.#client = undefined
  }

  /** Waits for its turn; answers how to give it back. Who gives up while waiting leaves the order of the others as it was. */
  async #enter(signal: AbortSignal, doing: string, wait: AbortSignal): Promise<() => void> {
    clearTimeout(this.#idleTimer)
    this.#waiting += 1
    const before = this.#tail
    let pass = () => {}
    this.#tail = new Promise<void>((resolve) => {
      pass = resolve
    })
    const leave = () => {
      void before.then(pass)
      this.#waiting -= 1
      if (this.#waiting === 0 && !this.isClosed) this.#closeWhenIdle()
    }
    await Promise.race([before, aborted(signal)])
    if (!signal.aborted) return leave
    leave()
    throw wait.aborted ? timedOut(doing, this.#options.waitMs) : providerError(signal.reason, doing)
  }

  async #twice<T>(signal: AbortSignal, attempt: (client: ImapClient) => Promise<T>): Promise<T> {
    const reused = this.#client?.imap.usable ? this.#client : undefined
    if (reused !== undefined) {
      try {
        return await attempt(reused)
      } catch (error) {
        if (reused.imap.usable || signal.aborted) throw error
      }
    }
    const options = { urgent: true, timeoutMs: this.#options.waitMs, signal }
    const client = await dial(this.#access, this.#dialling, options)
    this.#client = client
    if (this.isClosed) client.imap.close()
    return attempt(client)
  }

  #closeWhenIdle() {
    clearTimeout(this.#idleTimer)
    this.#idleTimer = setTimeout(() => {
      this.close()
      this.#onIdle()
    }, this.#options.idleMs)
  }
}

/** A server that lets us in and then says nothing is no different from one that cannot be reached. */
async function hangUpOn<T>(signal: AbortSignal, { imap }: ImapClient, work: Promise<T>): Promise<T> {
  const hangUp = () => imap.close()
  signal.addEventListener('abort', hangUp, { once: true })
  try {
    return await work
  } finally {
    signal.removeEventListener('abort', hangUp)
  }
}

async function aborted(signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
