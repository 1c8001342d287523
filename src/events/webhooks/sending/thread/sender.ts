import { Worker } from 'node:worker_threads'
import { AbortCallbacks } from '../../../../platform/concurrency/abort.ts'
import { perTurn } from '../../../../platform/concurrency/event-loop.ts'
import type { Log } from '../../../../platform/log/index.ts'
import type { Outbound } from '../../../../platform/outbound/index.ts'
import { RemoteThread, type ThreadTiming } from '../../../../platform/threads/remote-thread.ts'
import { workerFile } from '../../../../platform/threads/worker-file.ts'
import type { Clock } from '../../../../platform/time/clock.ts'
import { type AttemptInput, attempt, type Outcome } from '../attempt.ts'
import { ENTRY_METHODS, type NumberedInput, type ServedAttempts, type ThreadEntry } from './served.ts'

export interface SenderDeps {
  outbound: Outbound
  clock: Clock
  log: Log
  /** Without it, the thread of the caller sends everything. */
  thread?: {
    /** The value of PRIVATE_TARGETS. */
    privateTargets: string
    timing?: Partial<SenderTiming>
    startWorker?: () => Worker
  }
}

export interface SenderTiming extends ThreadTiming {
  /** The thread starts when so many attempts began within a second. */
  busyAttempts: number
  /** The thread is used until there were so long no such second. */
  idleMs: number
  /** How long after the loss of a thread another one may start. */
  restartMs: number
}

/** An attempt takes some 0.15 ms, so this is a twelfth of a core. With fewer, passing them on costs more than it saves. */
const BUSY_ATTEMPTS = 500
const BUSY_WITHIN_MS = 1000
const IDLE_MS = 60_000
const RESTART_MS = 60_000

interface Pending {
  resolve(outcome: Outcome): void
  reject(error: unknown): void
  /** Stops listening to the signal. */
  forget(): void
}

/**
 * Makes the attempts of all endpoints: on the calling thread while there are few, on a worker thread while there are many. Building and
 * signing requests, TLS and reading responses are then not in the way of the transactions that produce the deliveries.
 */
export class Sender {
  readonly #deps: SenderDeps
  readonly #pending = new Map<number, Pending>()
  readonly #aborts = new AbortCallbacks()
  readonly #begin = perTurn<NumberedInput>((attempts) => this.#beginAll(attempts))
  #thread: RemoteThread<ServedAttempts> | undefined
  /** The attempts of the running thread, once it has started. */
  #served: ServedAttempts | undefined
  /** Whether the thread gets new attempts. */
  #isUsed = false
  #nextNumber = 0
  /** Attempts since `#sinceMs`. */
  #attempts = 0
  /** Monotonic, as are the other times. */
  #sinceMs = 0
  #restartsAtMs = Number.NEGATIVE_INFINITY
  #idle: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(deps: SenderDeps) {
    this.#deps = deps
  }

  /** Makes one attempt. Rejects when the signal aborts, or the thread that made the attempt was lost: whether it was sent is unknown then. */
  async attempt(input: AttemptInput, signal: AbortSignal): Promise<Outcome> {
    signal.throwIfAborted()
    this.#count()
    return this.#served !== undefined && this.#isUsed
      ? this.#onThread(this.#served, input, signal)
      : attempt(input, this.#deps, signal)
  }

  /** Attempts on the thread fail. Twice safely. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#end(new Error('the service is stopping'))
  }

  #count(): void {
    const nowMs = this.#deps.clock.monotonic()
    if (nowMs - this.#sinceMs >= BUSY_WITHIN_MS) {
      this.#sinceMs = nowMs
      this.#attempts = 0
    }
    this.#attempts += 1
    if (this.#attempts < (this.#deps.thread?.timing?.busyAttempts ?? BUSY_ATTEMPTS)) return
    if (this.#served === undefined) {
      this.#start()
    } else {
      this.#isUsed = true
      this.#idle?.refresh()
    }
  }

  /** Starts the thread, unless it runs, or was lost just now. */
  #start(): void {
    const { thread } = this.#deps
    if (thread === undefined || this.#thread !== undefined || this.#isClosed) return
    if (this.#deps.clock.monotonic() < this.#restartsAtMs) return
    const { privateTargets, timing, startWorker = newWorker } = thread
    const { log } = this.#deps
    const started = new RemoteThread<ServedAttempts>({
      startWorker,
      timing,
      begin: (calls) =>
        calls.root<ThreadEntry>(ENTRY_METHODS).start(
          {
            ended: async (outcomes) => {
              for (const { number, outcome } of outcomes) this.#take(number)?.resolve(outcome)
            },
            refused: async (host, reason) =>
              log.warn(`Refused to connect: ${reason}`, { operation: 'net.refuse', metadata: { host } }),
            failed: async (message, error) => log.error(message, { operation: 'webhooks.deliver', error }),
          },
          { privateTargets },
        ),
      onLoss: (reason, error) => this.#lose(reason, error),
    })
    this.#thread = started
    started.served.then(
      (served) => {
        if (this.#thread !== started) return
        this.#served = served
        this.#isUsed = true
        this.#idle = setTimeout(() => this.#leave(), timing?.idleMs ?? IDLE_MS).unref()
      },
      () => {},
    )
  }

  #onThread(served: ServedAttempts, input: AttemptInput, signal: AbortSignal): Promise<Outcome> {
    const number = this.#nextNumber++
    return new Promise((resolve, reject) => {
      const forget = this.#aborts.add(signal, (reason) => {
        this.#take(number)?.reject(reason)
        served.abort([number]).catch(() => {})
      })
      this.#pending.set(number, { resolve, reject, forget })
      this.#begin({ number, input })
    })
  }

  /** Attempts that were aborted, or lost with a thread, since they were added do not begin. */
  #beginAll(attempts: readonly NumberedInput[]): void {
    const waiting = attempts.filter(({ number }) => this.#pending.has(number))
    this.#served?.begin(waiting).catch((error: unknown) => {
      for (const { number } of waiting) this.#take(number)?.reject(error)
    })
  }

  #take(number: number): Pending | undefined {
    const pending = this.#pending.get(number)
    this.#pending.delete(number)
    pending?.forget()
    this.#endIfUnused()
    return pending
  }

  #leave(): void {
    this.#isUsed = false
    this.#endIfUnused()
  }

  #endIfUnused(): void {
    if (!this.#isUsed && this.#pending.size === 0) void this.#end(new Error('it was idle'))
  }

  #lose(reason: string, error: unknown): Error {
    this.#restartsAtMs = this.#deps.clock.monotonic() + (this.#deps.thread?.timing?.restartMs ?? RESTART_MS)
    this.#deps.log.error(`The thread that sends webhook requests ended (${reason}); what it was sending is repeated.`, {
      operation: 'webhooks.thread',
      error,
    })
    const lost = new Error('the thread that made the attempt ended')
    void this.#end(lost)
    return lost
  }

  async #end(error: Error): Promise<void> {
    const thread = this.#thread
    this.#thread = undefined
    this.#served = undefined
    this.#isUsed = false
    clearTimeout(this.#idle)
    for (const number of [...this.#pending.keys()]) this.#take(number)?.reject(error)
    await thread?.end(error)
  }
}

const newWorker = () => new Worker(workerFile('sender-worker'))
