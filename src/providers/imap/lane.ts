import type { MailboxObject } from 'imapflow'
import { type MailAccess, ProviderError } from '../provider.ts'
import { type Dialling, dial, type ImapClient } from './client.ts'
import { connectionLost, providerError, timedOut } from './errors.ts'

export interface LaneOptions {
  /** Closed after so long without work. */
  idleMs: number
  /** How long a piece of work waits for its turn and the connection. */
  waitMs: number
  silenceMs: number
}

export interface LaneWork<T> {
  /** Selected before the work; its state is fresh with `fresh`, else maybe as old as the connection. */
  folder?: string
  fresh?: boolean
  doing: string
  signal?: AbortSignal
  work(client: ImapClient, box: MailboxObject | undefined): Promise<T>
}

/**
 * The operations connection of one account: opened when there is work, one piece at a time, closed when idle. Work is
 * only reading: what fails because an idle connection had died unnoticed is done once more on a new one.
 */
export class Lane {
  readonly #access: MailAccess
  readonly #dialling: Dialling
  readonly #options: LaneOptions
  readonly #closing = new AbortController()
  #client: ImapClient | undefined
  #tail: Promise<unknown> = Promise.resolve()
  #waiting = 0
  #idleTimer: NodeJS.Timeout | undefined

  constructor(access: MailAccess, dialling: Dialling, options: LaneOptions) {
    this.#access = access
    this.#dialling = dialling
    this.#options = options
  }

  get isClosed(): boolean {
    return this.#closing.signal.aborted
  }

  /** Throws `ProviderError`; `unavailable` with `timedOut` when the turn or the connection did not come in time. */
  async use<T>(request: LaneWork<T>): Promise<T> {
    if (this.isClosed) throw connectionLost('the connection was closed')
    const wait = AbortSignal.timeout(this.#options.waitMs)
    const given = [wait, this.#closing.signal, ...(request.signal ? [request.signal] : [])]
    const signal = AbortSignal.any(given)
    clearTimeout(this.#idleTimer)
    this.#waiting += 1
    const before = this.#tail
    let leave = () => {}
    this.#tail = new Promise<void>((resolve) => {
      leave = resolve
    })
    try {
      await Promise.race([before, aborted(signal)])
      signal.throwIfAborted()
      return await this.#attempt(request, signal)
    } catch (error) {
      if (wait.aborted && !(error instanceof ProviderError)) throw timedOut(request.doing, this.#options.waitMs)
      throw providerError(error, request.doing)
    } finally {
      // Whoever gave up while waiting leaves its place, but nobody may pass the one that works.
      void before.then(leave)
      this.#waiting -= 1
      if (this.#waiting === 0 && !this.isClosed) this.#closeWhenIdle()
    }
  }

  close(): void {
    this.#closing.abort(connectionLost('the connection was closed'))
    clearTimeout(this.#idleTimer)
    this.#client?.imap.close()
    this.#client = undefined
  }

  async #attempt<T>(request: LaneWork<T>, signal: AbortSignal): Promise<T> {
    const reused = this.#client?.imap.usable ? this.#client : undefined
    if (reused !== undefined) {
      try {
        return await this.#run(reused, request, signal)
      } catch (error) {
        if (reused.imap.usable || signal.aborted) throw error
      }
    }
    const { waitMs, silenceMs } = this.#options
    const client = await dial(this.#access, this.#dialling, { urgent: true, timeoutMs: waitMs, silenceMs, signal })
    if (this.isClosed) {
      client.imap.close()
      throw connectionLost('the connection was closed')
    }
    this.#client = client
    return this.#run(client, request, signal)
  }

  async #run<T>(client: ImapClient, request: LaneWork<T>, signal: AbortSignal): Promise<T> {
    const box = await inTime(this.#select(client, request), signal, () => client.imap.close())
    return request.work(client, box)
  }

  async #select({ imap }: ImapClient, { folder, fresh }: LaneWork<unknown>): Promise<MailboxObject | undefined> {
    if (folder === undefined) return undefined
    if (imap.mailbox && imap.mailbox.path === folder && !fresh) return imap.mailbox
    return imap.mailboxOpen(folder, { readOnly: true })
  }

  #closeWhenIdle() {
    clearTimeout(this.#idleTimer)
    this.#idleTimer = setTimeout(() => {
      this.#client?.imap.close()
      this.#client = undefined
    }, this.#options.idleMs)
  }
}

/** A server that accepts the connection and then says nothing is no different from one that cannot be reached. */
async function inTime<T>(work: Promise<T>, signal: AbortSignal, hangUp: () => void): Promise<T> {
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
