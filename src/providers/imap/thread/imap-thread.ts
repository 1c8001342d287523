import { Worker } from 'node:worker_threads'
import type { Log } from '../../../platform/log/index.ts'
import type { AddressGuard } from '../../../platform/net/index.ts'
import { RemoteThread, type ThreadTiming } from '../../../platform/threads/remote-thread.ts'
import { workerFile } from '../../../platform/threads/worker-file.ts'
import { ProviderError } from '../../contract/index.ts'
import type { ImapLimits } from '../limits.ts'
import { ERRORS } from './errors.ts'
import { ENTRY_METHODS, type ServedProvider, type ThreadEntry, type ThreadHost } from './served.ts'

/** How long after the end of a thread another one may start. */
const RESTART_MS = 1000

export interface ImapThreadOptions {
  guard: AddressGuard
  log: Log
  limits: Partial<ImapLimits>
  timing?: Partial<ThreadTiming & { restartMs: number }>
  startWorker?: () => Worker
}

/** Called when a thread ended that was not closed. */
type LossListener = (error: ProviderError) => void

/**
 * The thread that holds all IMAP connections and parses what the servers send. Begins with the first use. When it ends by itself or
 * hangs, every call in progress fails with `unavailable`, and the next use starts another thread.
 */
export class ImapThread {
  readonly #options: ImapThreadOptions
  readonly #restartMs: number
  readonly #losses = new Set<LossListener>()
  #running: RemoteThread<ServedProvider> | undefined
  /** Monotonic. */
  #restartsAtMs = Number.NEGATIVE_INFINITY
  #isClosed = false

  constructor(options: ImapThreadOptions) {
    this.#options = options
    this.#restartMs = options.timing?.restartMs ?? RESTART_MS
  }

  /** The provider on the running thread: the same object until the thread ends. */
  async provider(): Promise<ServedProvider> {
    if (this.#isClosed) throw gone('the service is stopping')
    if (performance.now() < this.#restartsAtMs) throw this.#lost()
    this.#running ??= this.#start()
    return this.#running.served
  }

  get isRunning(): boolean {
    return this.#running !== undefined
  }

  /** Returns the function that removes the listener. */
  onLoss(listener: LossListener): () => void {
    this.#losses.add(listener)
    return () => this.#losses.delete(listener)
  }

  /** Calls in progress fail. Twice safely. */
  async close(): Promise<void> {
    this.#isClosed = true
    const running = this.#running
    this.#running = undefined
    await running?.end(gone('the service is stopping'))
  }

  #start(): RemoteThread<ServedProvider> {
    const { startWorker = () => new Worker(workerFile('imap-worker')), timing } = this.#options
    const { guard, log, limits } = this.#options
    const host: ThreadHost = {
      async check(target) {
        const checked = await guard.check(target)
        return { checked, allowsPlain: guard.allowsPlain(checked) }
      },
      warn: async (message, operation) => log.warn(message, { operation, provider: 'imap' }),
      failed: async (message, error) => log.error(message, { operation: 'imap', provider: 'imap', error }),
    }
    return new RemoteThread({
      startWorker,
      errors: ERRORS,
      timing,
      begin: (calls) => calls.root<ThreadEntry>(ENTRY_METHODS).start(host, limits),
      onLoss: (reason, error) => this.#lose(reason, error),
    })
  }

  #lose(reason: string, error: unknown): ProviderError {
    this.#running = undefined
    this.#restartsAtMs = performance.now() + this.#restartMs
    this.#options.log.error(`The thread of the IMAP connections ended (${reason}); accounts connect again.`, {
      operation: 'imap.thread',
      provider: 'imap',
      error,
    })
    const closed = gone('its thread ended')
    // After the calls in progress have failed.
    queueMicrotask(() => this.#losses.forEach((listener) => void listener(closed)))
    return this.#lost()
  }

  /** Fails unfinished work: no fault of the mail server, and to be tried again soon. */
  #lost(): ProviderError {
    return gone('its thread ended', { retryAfterMs: this.#restartMs })
  }
}

function gone(why: string, options = {}): ProviderError {
  return new ProviderError('unavailable', `the connection to the mail server is gone: ${why}`, options)
}
