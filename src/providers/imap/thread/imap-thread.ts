import { Worker } from 'node:worker_threads'
import type { Log } from '../../../infra/log/index.ts'
import type { AddressGuard } from '../../../infra/net/index.ts'
import { RemoteCalls } from '../../../lib/remote-calls.ts'
import { workerFile } from '../../../lib/worker-file.ts'
import { ProviderError } from '../../contract/index.ts'
import type { ImapLimits } from '../index.ts'
import { ERRORS } from './errors.ts'
import { ENTRY_METHODS, type ServedProvider, type ThreadEntry, type ThreadHost } from './served.ts'

export interface ThreadTiming {
  pingMs: number
  /** A thread that does not respond to a ping for this long is ended. A turn of its event loop takes milliseconds. */
  endAfterMs: number
  /** How long after the end of a thread another one may start. */
  restartMs: number
}

const TIMING: ThreadTiming = { pingMs: 15_000, endAfterMs: 60_000, restartMs: 1000 }

export interface ImapThreadOptions {
  guard: AddressGuard
  log: Log
  limits: Partial<ImapLimits>
  timing?: Partial<ThreadTiming>
  startWorker?: () => Worker
}

interface Running {
  worker: Worker
  calls: RemoteCalls
  provider: Promise<ServedProvider>
  pings: NodeJS.Timeout
}

/** Called when a thread ended that was not closed. */
type LossListener = (error: ProviderError) => void

/**
 * The thread that holds all IMAP connections and parses what the servers send. Begins with the first use. When it ends by itself or
 * hangs, every call in progress fails with `unavailable`, and the next use starts another thread.
 */
export class ImapThread {
  readonly #options: ImapThreadOptions
  readonly #timing: ThreadTiming
  readonly #losses = new Set<LossListener>()
  #running: Running | undefined
  /** Monotonic. */
  #restartsAtMs = Number.NEGATIVE_INFINITY
  #isClosed = false

  constructor(options: ImapThreadOptions) {
    this.#options = options
    this.#timing = { ...TIMING, ...options.timing }
  }

  /** The provider on the running thread: the same object until the thread ends. */
  async provider(): Promise<ServedProvider> {
    if (this.#isClosed) throw gone('the service is stopping')
    if (performance.now() < this.#restartsAtMs) throw this.#lost()
    this.#running ??= this.#start()
    return this.#running.provider
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
    await this.#end(gone('the service is stopping'))
  }

  #start(): Running {
    const { startWorker = () => new Worker(workerFile('imap-worker')) } = this.#options
    const worker = startWorker()
    const calls = new RemoteCalls(worker, { errors: ERRORS })
    worker.unref()
    worker.on('error', (error) => this.#lose(worker, 'an unexpected error', error))
    worker.on('exit', (code) => this.#lose(worker, `exit code ${code}`))
    const { guard, log, limits } = this.#options
    const host: ThreadHost = {
      async check(target) {
        const checked = await guard.check(target)
        return { checked, allowsPlain: guard.allowsPlain(checked) }
      },
      warn: async (message, operation) => log.warn(message, { operation, provider: 'imap' }),
    }
    const provider = calls
      .root<ThreadEntry>(ENTRY_METHODS)
      .start(host, limits)
      .catch((error: unknown) => {
        this.#lose(worker, 'it did not start', error)
        throw error instanceof ProviderError ? error : this.#lost()
      })
    // Every use reports it.
    provider.catch(() => {})
    return { worker, calls, provider, pings: this.#ping(worker, provider) }
  }

  #ping(worker: Worker, provider: Promise<ServedProvider>): NodeJS.Timeout {
    const { pingMs, endAfterMs } = this.#timing
    let sentMs: number | undefined
    const ping = () => {
      if (sentMs !== undefined) {
        if (performance.now() - sentMs > endAfterMs) this.#lose(worker, `no response for ${endAfterMs / 1000} s`)
        return
      }
      sentMs = performance.now()
      const answered = () => {
        sentMs = undefined
      }
      provider.then((remote) => remote.ping()).then(answered, answered)
    }
    return setInterval(ping, pingMs).unref()
  }

  #lose(worker: Worker, reason: string, error?: unknown): void {
    if (this.#running?.worker !== worker) return
    this.#restartsAtMs = performance.now() + this.#timing.restartMs
    this.#options.log.error(`The thread of the IMAP connections ended (${reason}); accounts connect again.`, {
      ...{ operation: 'imap.thread', provider: 'imap', error },
    })
    void this.#end(this.#lost())
    const closed = gone('its thread ended')
    for (const listener of [...this.#losses]) listener(closed)
  }

  /** For what is unfinished: no fault of the mail server, and to be tried again soon. */
  #lost(): ProviderError {
    return gone('its thread ended', { retryAfterMs: this.#timing.restartMs })
  }

  async #end(error: ProviderError): Promise<void> {
    const running = this.#running
    this.#running = undefined
    if (running === undefined) return
    clearInterval(running.pings)
    running.calls.end(error)
    await running.worker.terminate()
  }
}

function gone(why: string, options = {}): ProviderError {
  return new ProviderError('unavailable', `the connection to the mail server is gone: ${why}`, options)
}
