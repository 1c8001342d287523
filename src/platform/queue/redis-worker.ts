import { Worker as BullWorker, type Job, WaitingError } from 'bullmq'
import { sleep } from '../concurrency/abort.ts'
import { type Backoff, backoffMs } from '../concurrency/retry.ts'
import type { Log } from '../log/index.ts'
import type { Connection } from '../redis/index.ts'
import type { LocalRuns } from './local-runs.ts'
import { DEFAULT_LEASE_MS, type Run, type Worker, type WorkOptions } from './queue.ts'

/** The payload of a job: its key only. */
export interface JobData {
  key: string
}

interface RedisWorkerDeps {
  log: Log
  backoff: Backoff
  /** The time between two checks for jobs of silent workers. */
  stalledMs: number
  /** Buffers commands while Redis is down, so that running jobs finish in Redis afterwards. */
  connection: Connection
  prefix: string
  local: LocalRuns
  /** Adds a job again when its run returned `nextRunInMs`. */
  addNext(key: string, delayMs: number): void
}

type Next = Awaited<ReturnType<Run>>

/** How long an aborted run may take to end before the worker returns its job to the queue. */
const ABANDON_MS = 2000
/** How long a stop waits for BullMQ, which waits for Redis. */
const CLOSE_MS = 2000
const RETRY_MS = 1000

/**
 * Runs the jobs of one queue in this process. BullMQ assigns them, renews their leases (its locks), delays failed ones, and
 * moves those of silent workers (stalled) to others. `LocalRuns` runs the jobs that Redis did not accept.
 */
export class RedisWorker implements Worker {
  readonly #deps: RedisWorkerDeps
  readonly #queue: string
  readonly #run: Run
  readonly #bull: BullWorker<JobData, Next>
  /** Every run that has not ended, including those that lost their lease. */
  readonly #running = new Map<string, Promise<void>>()
  #stopping: Promise<void> | undefined
  #isBroken = false

  constructor(
    deps: RedisWorkerDeps,
    queue: string,
    { concurrency, leaseMs = DEFAULT_LEASE_MS }: WorkOptions,
    run: Run,
  ) {
    this.#deps = deps
    this.#queue = queue
    this.#run = run
    deps.local.start(concurrency, (key, { signal }) => this.#runAlone(key, signal))
    // BullMQ passes a signal to functions with three parameters only.
    this.#bull = new BullWorker<JobData, Next>(
      bullName(queue),
      (job, token, signal) => this.#process(job, token, signal),
      {
        connection: deps.connection,
        prefix: deps.prefix,
        concurrency,
        lockDuration: leaseMs,
        stalledInterval: deps.stalledMs,
        maxStalledCount: Number.MAX_SAFE_INTEGER,
        runRetryDelay: RETRY_MS,
        settings: { backoffStrategy: (failures) => backoffMs(failures, deps.backoff) },
      },
    )
    this.#bull.on('error', (error) => this.#broken(error))
    this.#bull.on('active', () => {
      this.#isBroken = false
    })
    this.#bull.on('lockRenewalFailed', (ids) => {
      for (const id of ids) this.#bull.cancelJob(id, 'the lease of this job was lost')
    })
    // Not inside the run: a job added during the run now waits under this key and keeps its earlier time.
    this.#bull.on('completed', ({ data }, next) => next && deps.addNext(data.key, next.nextRunInMs))
  }

  stop(graceMs: number): Promise<void> {
    this.#stopping ??= this.#stop(graceMs)
    return this.#stopping
  }

  async #stop(graceMs: number): Promise<void> {
    // `#stopping` is set only after this function's first await.
    await Promise.resolve()
    const local = this.#deps.local.stop()
    const ended = new AbortController()
    const closing = this.#bull.close().catch((error: unknown) => this.#broken(error))
    void Promise.all([closing, local.ended]).then(() => ended.abort())
    await sleep(graceMs, ended.signal)
    this.#bull.cancelAllJobs('the worker is stopping')
    local.abort(new Error('the worker is stopping'))
    await sleep(ABANDON_MS + CLOSE_MS, ended.signal)
  }

  /** Throws the error of the run, so that BullMQ repeats it, or `WaitingError` after returning the job to the queue. */
  async #process(job: Job<JobData, Next>, token?: string, signal = new AbortController().signal): Promise<Next> {
    if (this.#stopping === undefined) {
      const next = await this.#runOrAbandon(job, signal)
      if (!signal.aborted) return next
    }
    await job.moveToWait(token).catch((error: unknown) => {
      this.#deps.log.debug('A job was no longer held when its run was aborted.', { operation: 'queue.work', error })
    })
    throw new WaitingError()
  }

  /** Returns when the run ends, or `ABANDON_MS` after it was aborted. */
  async #runOrAbandon({ data: { key }, attemptsMade }: Job<JobData, Next>, signal: AbortSignal): Promise<Next> {
    // One promise per run: racing against a long-lived promise would leak memory with each run.
    const abandoned = new Promise<undefined>((resolve) => {
      signal.addEventListener('abort', () => setTimeout(() => resolve(undefined), ABANDON_MS), { once: true })
    })
    try {
      return await Promise.race([this.#runAlone(key, signal), abandoned])
    } catch (error) {
      if (signal.aborted) return undefined
      this.#warn('A job failed; it will run again.', error, { key, failures: attemptsMade })
      throw error
    }
  }

  /** Waits for any other run of the key in this process: one that lost its lease, or one in `LocalRuns`. */
  async #runAlone(key: string, signal: AbortSignal): Promise<Next> {
    for (let other = this.#running.get(key); other !== undefined; other = this.#running.get(key)) await other
    if (signal.aborted) return undefined
    const run = this.#run(key, { signal })
    const ended = run.then(
      () => undefined,
      () => undefined,
    )
    this.#running.set(key, ended)
    void ended.then(() => this.#running.delete(key))
    return run
  }

  /** Logs an error once until a job arrives again. The link logs lost connections. */
  #broken(error: unknown): void {
    const isNew = !this.#isBroken && this.#deps.connection.status === 'ready' && this.#stopping === undefined
    this.#isBroken = true
    if (isNew) this.#warn('The queue failed in Redis; retrying.', error)
  }

  #warn(message: string, error: unknown, metadata: Record<string, unknown> = {}): void {
    this.#deps.log.warn(message, { operation: 'queue.work', error, metadata: { queue: this.#queue, ...metadata } })
  }
}

/** BullMQ does not allow colons in names. */
export const bullName = (queue: string) => encodeURIComponent(queue)
