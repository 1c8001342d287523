import { Worker as BullWorker, DelayedError, type Job, WaitingError } from 'bullmq'
import { sleep, withTimeout } from '../../lib/abort.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Backoff } from '../../lib/retry.ts'
import type { Log } from '../log/index.ts'
import type { Connection } from '../redis/index.ts'
import { LocalTurns } from './local-turns.ts'
import type { Run, Worker, WorkOptions } from './queue.ts'
import { type JobData, type JobRequest, laneName } from './redis-jobs.ts'
import type { Ledger, Verdict } from './redis-ledger.ts'
import { INTERRUPTED, Runs } from './redis-runs.ts'

export interface RedisWorkerDeps {
  clock: Clock
  log: Log
  instanceId: string
  /** How often silent workers are looked for. */
  pollMs: number
  backoff: Backoff
  /** A patient one: what is begun while Redis is away goes on when it is back. */
  connection: Connection
  prefix: string
  ledger: Ledger
  /** Brings BullMQ in line with the ledger; see `RedisJobs`. */
  settle(subject: string, expectedMs?: number): Promise<void>
  ask(request: JobRequest): void
  /** For what Redis did not take. */
  keep(request: JobRequest, error: unknown): void
}

const DEFAULT_LEASE_MS = 30_000
/** How long a stop waits for runs that ignore their signal. */
const ABANDON_MS = 2000
/** How long a stop waits for BullMQ, which waits for Redis. */
const CLOSE_MS = 2000
/** How long the beginning and the end of a run wait for Redis before the process goes on by itself. */
const PATIENCE_MS = 2000
const RETRY_MS = 1000

/**
 * Runs the jobs of one lane in this process:
 *
 *   BullMQ hands out a job ──► ledger: begin ──► run ──► ledger: end ──► over: BullMQ forgets the job, else delays it
 *
 * BullMQ keeps the leases (its locks), wakes whoever is free, and finds the jobs of silent workers. While Redis is away
 * the subjects that this process asks for run here and nowhere else, see `LocalTurns`.
 */
export class RedisLaneWorker implements Worker {
  readonly #deps: RedisWorkerDeps
  readonly #lane: string
  readonly #bull: BullWorker<JobData>
  readonly #local: LocalTurns
  readonly #runs: Runs
  readonly #abandoned = abandonment()
  #stopping: Promise<void> | undefined
  #isBroken = false

  constructor(deps: RedisWorkerDeps, lane: string, { concurrency, leaseMs = DEFAULT_LEASE_MS }: WorkOptions, run: Run) {
    this.#deps = deps
    this.#lane = lane
    this.#local = new LocalTurns(deps.clock, concurrency, (subject, attempts) => this.#runHere(subject, attempts))
    this.#runs = new Runs({
      ...deps,
      leaseMs,
      run,
      onFailure: (error, subject, attempts) =>
        this.#warn('A job failed and will be tried again.', error, { subject, attempts }),
    })
    this.#bull = new BullWorker<JobData>(laneName(lane), (job, token) => this.#process(job, token ?? ''), {
      connection: deps.connection,
      prefix: deps.prefix,
      name: deps.instanceId,
      concurrency,
      lockDuration: leaseMs,
      stalledInterval: deps.pollMs,
      // A job is never given up: the ledger counts its failures.
      maxStalledCount: Number.MAX_SAFE_INTEGER,
      runRetryDelay: RETRY_MS,
    })
    this.#bull.on('error', (error) => this.#broken(error))
    this.#bull.on('active', () => {
      this.#isBroken = false
    })
    this.#bull.on('locksRenewed', ({ jobIds }) => this.#runs.renewed(jobIds))
    this.#bull.on('lockRenewalFailed', (jobIds) => this.#runs.lost(jobIds))
    // An `add` while BullMQ was still forgetting the job found it there, and changed nothing.
    this.#bull.on('completed', (job) => this.#settle(job.data.subject))
    this.#bull.on('failed', (job) => job !== undefined && this.#settle(job.data.subject))
  }

  /** For while Redis is away. */
  addHere(request: JobRequest): void {
    if (this.#stopping === undefined) this.#local.add(request.subject, request.delayMs, request.attempts)
  }

  removeHere(subject: string): void {
    this.#local.remove(subject)
  }

  /** Redis is back: what waits here is to be asked for there. */
  handOver(): JobRequest[] {
    return this.#local.handOver()
  }

  stop(graceMs: number): Promise<void> {
    this.#stopping ??= this.#stop(graceMs)
    return this.#stopping
  }

  async #stop(graceMs: number): Promise<void> {
    // The field that says "stopping" is set only after this function's first await.
    await Promise.resolve()
    this.#local.stop()
    const settled = new AbortController()
    const closing = this.#bull.close().catch((error: unknown) => this.#broken(error))
    void Promise.all([closing, this.#local.settled()]).then(() => settled.abort())
    await sleep(graceMs, settled.signal)
    this.#runs.abortAll(new Error('the worker is stopping'))
    await sleep(ABANDON_MS, settled.signal)
    this.#abandoned.now()
    this.#runs.close()
    await sleep(CLOSE_MS, settled.signal)
  }

  /** What BullMQ calls. Throwing one of its two errors says that the job was moved, or is no longer ours to move. */
  async #process(job: Job<JobData>, token: string): Promise<void> {
    const verdict = await this.#abandoned.or(this.#verdict(job, token))
    if (verdict.kind === 'over') return
    if (verdict.kind === 'lost') throw new WaitingError()
    await this.#delay(job, token, verdict.inMs)
    throw new DelayedError()
  }

  async #verdict(job: Job<JobData>, token: string): Promise<Verdict> {
    const { subject } = job.data
    try {
      // A run whose lease was lost may still be under way here, or one of the time without Redis: never beside it.
      for (let before = this.#runs.find(subject); before !== undefined; before = this.#runs.find(subject)) {
        await before.done
      }
      if (this.#stopping !== undefined) return { kind: 'again', inMs: 0 }
      return await this.#turn(job, token)
    } catch (error) {
      this.#broken(error)
      return { kind: 'again', inMs: RETRY_MS }
    }
  }

  async #turn(job: Job<JobData>, token: string): Promise<Verdict> {
    const { subject } = job.data
    const { ledger } = this.#deps
    const ending = await this.#runs.hold(job, async (running) => {
      const begun = this.#begin(job, token)
      const attempts = await withTimeout(begun, PATIENCE_MS, silence).catch((error: unknown) => {
        const givenBack = () => ledger.end(this.#lane, token, { subject, ...INTERRUPTED })
        this.#later(
          job,
          token,
          begun.then<Verdict>((late) => (typeof late === 'number' ? givenBack() : { kind: late ?? 'over' })),
        )
        return this.#goOnHere({ subject, delayMs: 0 }, error)
      })
      return typeof attempts === 'number' ? this.#runs.outcome(running, attempts) : attempts
    })
    if (ending === undefined) return { kind: 'over' }
    if (ending === 'lost') return { kind: 'lost' }
    const written = ledger.end(this.#lane, token, ending)
    return withTimeout(written, PATIENCE_MS, silence).catch((error: unknown) => {
      this.#later(job, token, written)
      if (ending.nextMs !== null) this.#goOnHere({ subject, delayMs: ending.nextMs }, error)
      return { kind: 'lost' }
    })
  }

  /** What is no longer ours may be nobody's: a Redis that came back empty knows nothing of it. So it is asked for again. */
  async #begin({ id, data: { subject } }: Job<JobData>, token: string): Promise<number | 'lost' | undefined> {
    const lockKey = `${this.#bull.toKey(id ?? '')}:lock`
    const answer = await this.#deps.ledger.begin(this.#lane, subject, token, lockKey)
    if (answer === 'lost') this.#deps.ask({ subject, delayMs: 0 })
    return answer
  }

  #goOnHere(request: JobRequest, error: unknown): 'lost' {
    this.#deps.keep(request, error)
    return 'lost'
  }

  /** The job was given up because Redis was silent; when it answers after all, nobody need wait for the lease to end. */
  #later(job: Job<JobData>, token: string, verdict: Promise<Verdict>): void {
    verdict
      .then(async (late) => {
        if (late.kind !== 'lost') await this.#delay(job, token, late.kind === 'again' ? late.inMs : 0)
      })
      .catch((error: unknown) => this.#broken(error))
  }

  async #delay(job: Job<JobData>, token: string, inMs: number): Promise<void> {
    try {
      // To the back of the line even when it is due: others get their turn first.
      await job.moveToDelayed(this.#deps.clock.now() + inMs, token)
      if (inMs > 0) this.#settle(job.data.subject, inMs)
    } catch (error) {
      this.#deps.log.debug('A job was no longer held when its run ended.', { operation: 'queue.work', error })
    }
  }

  #settle(subject: string, expectedMs?: number): void {
    this.#deps.settle(subject, expectedMs).catch((error: unknown) => this.#broken(error))
  }

  /** A turn without Redis. Answers when to run again here, and after how many failures. */
  async #runHere(subject: string, attempts: number): Promise<{ nextMs: number; attempts: number } | undefined> {
    const before = this.#runs.find(subject)
    if (before !== undefined) {
      await before.done
      return { nextMs: 0, attempts }
    }
    const { outcome, nextMs } = await this.#runs.hold({ data: { subject } }, (running) =>
      this.#runs.outcome(running, attempts),
    )
    if (nextMs === null) return undefined
    const next = { nextMs, attempts: outcome === 'failed' ? attempts + 1 : 0 }
    if (this.#deps.connection.status !== 'ready') return next
    // The loss may not have been noticed yet: then this comes back, and the failures still count.
    this.#deps.ask({ subject, delayMs: nextMs, attempts: next.attempts })
    return undefined
  }

  /** Said once until a job arrives again; the link says when Redis is away. */
  #broken(error: unknown): void {
    const isNews = !this.#isBroken && this.#deps.connection.status === 'ready' && this.#stopping === undefined
    this.#isBroken = true
    if (isNews) this.#warn('The queue had trouble with Redis; trying again.', error)
  }

  #warn(message: string, error: unknown, metadata: Record<string, unknown> = {}): void {
    this.#deps.log.warn(message, { operation: 'queue.work', error, metadata: { lane: this.#lane, ...metadata } })
  }
}

const silence = () => new Error('Redis did not answer in time.')

/**
 * Lets go of all runs at once: what they answer no longer matters. Each has a promise of its own: a race against one that
 * lasts would keep something of every run for as long as the process lives.
 */
function abandonment() {
  const waiting = new Set<() => void>()
  return {
    /** What comes of the work, or that it was let go of. */
    async or(work: Promise<Verdict>): Promise<Verdict> {
      let letGo = () => {}
      const abandoned = new Promise<Verdict>((resolve) => {
        letGo = () => resolve({ kind: 'lost' })
      })
      waiting.add(letGo)
      try {
        return await Promise.race([work, abandoned])
      } finally {
        waiting.delete(letGo)
      }
    },
    now() {
      for (const letGo of waiting) letGo()
    },
  }
}
