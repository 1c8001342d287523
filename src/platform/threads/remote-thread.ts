import type { Worker } from 'node:worker_threads'
import { RemoteCalls } from './remote-calls.ts'
import type { ErrorMakers } from './remote-errors.ts'

export interface ThreadTiming {
  pingMs: number
  /** A thread that does not respond to a ping for this long is ended. A turn of its event loop takes milliseconds. */
  endAfterMs: number
}

const TIMING: ThreadTiming = { pingMs: 15_000, endAfterMs: 60_000 }

interface RemoteThreadOptions<T> {
  startWorker(): Worker
  errors?: ErrorMakers
  /** Gets what the thread serves. Called once. */
  begin(calls: RemoteCalls): Promise<T>
  timing?: Partial<ThreadTiming> | undefined
  /** Called when the thread ended without `end`. Returns the error of the calls in progress. */
  onLoss(reason: string, error?: unknown): Error
}

/** One worker thread whose objects are called from this thread. It does not keep the process alive. */
export class RemoteThread<T extends { ping(): Promise<void> }> {
  readonly #options: RemoteThreadOptions<T>
  readonly #worker: Worker
  readonly #calls: RemoteCalls
  readonly #pings: NodeJS.Timeout
  /** The object that the thread serves. Rejects as the calls do when it does not start. */
  readonly served: Promise<T>
  #endedWith: Error | undefined

  constructor(options: RemoteThreadOptions<T>) {
    this.#options = options
    this.#worker = options.startWorker()
    this.#calls = new RemoteCalls(this.#worker, { ...(options.errors && { errors: options.errors }) })
    this.#worker.unref()
    this.#worker.on('error', (error) => this.#lose('an unexpected error', error))
    this.#worker.on('exit', (code) => this.#lose(`exit code ${code}`))
    this.served = options.begin(this.#calls).catch((error: unknown) => {
      this.#lose('it did not start', error)
      throw this.#endedWith
    })
    // Every use reports it.
    this.served.catch(() => {})
    this.#pings = this.#ping({ ...TIMING, ...options.timing })
  }

  /** Calls in progress and later ones reject with the error. Twice safely. */
  async end(error: Error): Promise<void> {
    this.#endedWith ??= error
    clearInterval(this.#pings)
    this.#calls.end(error)
    await this.#worker.terminate()
  }

  #lose(reason: string, error?: unknown): void {
    if (this.#endedWith === undefined) void this.end(this.#options.onLoss(reason, error))
  }

  /** Counts turns of a timer instead of time: while the machine is suspended or starved, this thread has none either. */
  #ping({ pingMs, endAfterMs }: ThreadTiming): NodeJS.Timeout {
    const allowed = Math.ceil(endAfterMs / pingMs)
    let isWaiting = false
    let waited = 0
    const ping = () => {
      if (isWaiting) {
        waited += 1
        if (waited >= allowed) this.#lose(`no response for ${endAfterMs / 1000} s`)
        return
      }
      isWaiting = true
      waited = 0
      const answered = () => {
        isWaiting = false
      }
      this.served.then((remote) => remote.ping()).then(answered, answered)
    }
    return setInterval(ping, pingMs).unref()
  }
}
