import type { Sealer } from '../../../platform/crypto/seal.ts'
import { type Db, keepRenewing, leasedRows, type RowLease } from '../../../platform/db/index.ts'
import type { Log } from '../../../platform/log/index.ts'
import type { Queue, Run } from '../../../platform/queue/index.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import type { Recorder } from '../../index.ts'
import { endpointStore } from '../endpoints/store.ts'
import type { Outcome } from './attempt.ts'
import { attemptInput } from './attempt-input.ts'
import { FAILURES_TO_OPEN, opensAt } from './circuit.ts'
import { type Claimed, Claims, type InFlightLimit } from './claims.ts'
import type { DueHints } from './due-hints.ts'
import { DELIVERIES, type EndpointCheck } from './leases.ts'
import type { RecentEvents } from './recent-events.ts'
import type { ResultWriter } from './result-writer.ts'
import { type AttemptResult, isGone } from './results.ts'
import type { GivenDelivery, RunningWorker, RunningWorkers } from './running-workers.ts'
import { FEWEST_SENDERS, nextSenderLimit } from './sender-limit.ts'
import type { Sender } from './thread/sender.ts'

interface EndpointWorkerDeps {
  db: Db
  queue: Pick<Queue, 'addIn'>
  clock: Clock
  log: Log
  sealer: Sealer
  recorder: Recorder
  /** How long a silent worker keeps its claims. Default 30,000. */
  leaseMs?: number
  /** How long a run takes at most. Default 30,000. */
  maxRunMs?: number
  inFlightLimit: InFlightLimit
  recentEvents: RecentEvents
  runningWorkers: RunningWorkers
  resultWriter: ResultWriter
  sender: Pick<Sender, 'attempt'>
}

/** The queue whose job keys are the endpoints with due deliveries. */
export const DELIVER_QUEUE = 'deliver'

/** New deliveries that a worker takes for each request that it may have in flight: what it sends within a moment. */
const GIVEN_PER_SENDER = 8
/**
 * With so many workers in the process, none waits for new deliveries any more, so that the queue can always start one for another
 * endpoint.
 */
const MOST_WAITING = 1_024
/** After this long the endpoint goes to the back of the queue, so that other endpoints get a worker, and other processes endpoints. */
const MAX_RUN_MS = 30_000

/**
 * The run of the queue `deliver`, whose job keys are endpoint ids: sends what is due at one endpoint and returns when the
 * next delivery is due. Once `stopping` aborts, no new requests start; only the run's own signal aborts those in flight.
 */
export function deliverRun(deps: EndpointWorkerDeps, hints: DueHints, stopping: AbortSignal): Run {
  return async (endpointId, { signal }) => {
    const worker = new EndpointWorker(deps, endpointId, signal)
    const end = () => worker.end()
    stopping.addEventListener('abort', end)
    const stopListening = hints.listen(endpointId, () => worker.claimMore())
    deps.runningWorkers.set(endpointId, worker)
    try {
      if (stopping.aborted) end()
      await worker.run()
    } finally {
      stopListening()
      if (deps.runningWorkers.get(endpointId) === worker) deps.runningWorkers.delete(endpointId)
      stopping.removeEventListener('abort', end)
    }
    const { db } = deps
    const nowMs = deps.clock.now()
    const nextDueAt = await leasedRows(db.read, db.dialect, DELIVERIES).nextDueAt(endpointId)
    const endpoint = nextDueAt === undefined ? undefined : await endpointStore(db.read).find(endpointId)
    // Activating an endpoint queues it again, so the deliveries of an inactive one just wait.
    if (nextDueAt === undefined || endpoint?.isActive !== 1) return undefined
    return { nextRunInMs: Math.max(0, Math.max(nextDueAt, opensAt(endpoint)) - nowMs) }
  }
}

/**
 * One run for one endpoint:
 *
 *     claim a batch ─▶ 8 to 32 senders: sign, send ─▶ record the results in batches
 *        fan-out ─────▲ gives new ones, already claimed
 *
 * A sender without work waits while other requests are in flight, so one hanging request does not delay deliveries that
 * become due meanwhile. Without any work, the run waits for new deliveries until its time is over.
 */
class EndpointWorker implements RunningWorker {
  readonly endpointId: string
  readonly #deps: EndpointWorkerDeps
  readonly #signal: AbortSignal
  readonly #claims: Claims
  readonly #senders = new Set<Promise<void>>()
  #senderLimit = FEWEST_SENDERS
  /** More deliveries may be due. */
  #mayBeMore = true
  /** Deliveries that come before new ones may wait for a claim: at first, after a refusal, and when a claim left some behind. */
  #hasBacklog = true
  #claiming: Promise<void> | undefined
  /** Deliveries that a sender has taken and not finished. */
  #inFlight = 0
  /** Results being written. */
  readonly #recording = new Set<Promise<void>>()
  #failuresInRow = 0
  #hasFailed = false
  #ending = false
  /** Everything that it held was released. */
  #hasReleased = false
  #failure: { error: unknown } | undefined
  #idleSenders: (() => void)[] = []

  constructor(deps: EndpointWorkerDeps, endpointId: string, signal: AbortSignal) {
    this.endpointId = endpointId
    this.#deps = deps
    this.#signal = signal
    this.#claims = new Claims(deps, endpointId)
  }

  /** More deliveries may be due. */
  claimMore(): void {
    this.#mayBeMore = true
    this.#wakeSenders(1)
  }

  leaseFor(count: number, updatedAt: number): RowLease | undefined {
    const fits = this.#claims.waiting + count <= this.#senderLimit * GIVEN_PER_SENDER
    const takes = !this.#ending && !this.#hasBacklog && fits && this.#claims.mayAdd(updatedAt)
    // Those that it does not take come before the next ones.
    this.#hasBacklog ||= !takes
    return takes ? this.#claims.lease : undefined
  }

  give(deliveries: readonly GivenDelivery[]): void {
    this.#claims.add(deliveries)
    if (this.#hasReleased) void this.#returnGiven()
    this.#wakeSenders(deliveries.length)
  }

  /** Stops claiming deliveries and starting requests. */
  end(): void {
    this.#ending = true
    this.#wakeSenders()
  }

  /** Rejects with the first error that is not the endpoint's own. */
  async run(): Promise<void> {
    const end = () => this.end()
    this.#signal.addEventListener('abort', end, { once: true })
    if (this.#signal.aborted) end()
    const limit = setTimeout(end, this.#deps.maxRunMs ?? MAX_RUN_MS)
    const stopRenewing = keepRenewing({
      log: this.#deps.log,
      operation: 'webhooks.renew',
      lease: this.#claims.lease,
      renew: () => this.#claims.renew(),
    })
    try {
      for (let started = 0; started < FEWEST_SENDERS; started += 1) this.#startSender()
      while (this.#senders.size > 0) await Promise.all(this.#senders)
      await this.#claiming?.catch(() => {})
    } finally {
      clearTimeout(limit)
      this.#signal.removeEventListener('abort', end)
      await this.#flush()
      stopRenewing()
      this.#hasReleased = true
      await this.#claims.release()
    }
    if (this.#failure !== undefined) throw this.#failure.error
  }

  #startSender(): void {
    const sender = this.#sender().finally(() => this.#senders.delete(sender))
    this.#senders.add(sender)
  }

  async #sender(): Promise<void> {
    try {
      while (this.#senders.size <= this.#senderLimit) {
        const claimed = await this.#next()
        if (claimed === undefined) return
        await this.#send(claimed)
      }
    } catch (error) {
      if (!this.#signal.aborted) this.fail(error)
    }
  }

  async #next(): Promise<Claimed | undefined> {
    while (!this.#ending) {
      const claimed = this.#claims.take()
      if (claimed !== undefined) {
        this.#inFlight += 1
        // Many senders would wait for the next claim together. What is new must not delay what a hint is about.
        const isNeeded = this.#claims.waiting < this.#senderLimit - FEWEST_SENDERS || !this.#hasBacklog
        if (this.#mayBeMore && isNeeded) this.#claim().catch((error: unknown) => this.fail(error))
        return claimed
      }
      if (this.#mayBeMore || this.#claiming !== undefined) {
        await this.#claim()
        continue
      }
      if (this.#inFlight === 0 && !this.#mayWait) this.end()
      if (!this.#ending) await new Promise<void>((resolve) => this.#idleSenders.push(resolve))
    }
    return undefined
  }

  /**
   * Whether the run goes on without work: new deliveries that are given to it need no run of the queue and no claim. After a failure or
   * a probe more may be due soon, or at once: the end of the run finds out when.
   */
  get #mayWait(): boolean {
    return !this.#hasFailed && this.#claims.isClosed && this.#deps.runningWorkers.size <= MOST_WAITING
  }

  /** Senders that run out of work at the same time share one claim. */
  #claim(): Promise<void> {
    this.#claiming ??= (async () => {
      try {
        this.#mayBeMore = false
        this.#hasBacklog = await this.#claims.claim()
        this.#mayBeMore ||= this.#hasBacklog
        this.#wakeSenders(this.#claims.waiting)
      } finally {
        this.#claiming = undefined
      }
    })()
    return this.#claiming
  }

  async #send({ delivery, event, endpoint }: Claimed): Promise<void> {
    try {
      const input = attemptInput(delivery, event, endpoint, this.#deps.clock.now())
      const outcome = await this.#deps.sender.attempt(input, this.#signal)
      this.#record({ delivery, lease: this.#claims.lease.token, endpoint: endpoint.row, outcome })
      if (isGone(outcome)) this.end()
      this.#adapt(outcome)
      this.#failuresInRow = outcome.error === null ? 0 : this.#failuresInRow + 1
      this.#hasFailed ||= outcome.error !== null
      // The circuit may have opened: record the results before sending anything more.
      if (this.#failuresInRow >= FAILURES_TO_OPEN) await this.#flush()
    } finally {
      this.#inFlight -= 1
      // This sender may end, so that another one has to find out whether the run is over.
      if (this.#inFlight === 0) this.#wakeSenders(1)
    }
  }

  /** A receiver that responds quickly gets more requests at once; one in trouble gets few. */
  #adapt(outcome: Outcome): void {
    this.#senderLimit = nextSenderLimit(this.#senderLimit, outcome)
    const isNeeded = this.#claims.waiting > 0 && !this.#ending
    if (isNeeded && this.#senders.size < this.#senderLimit) this.#startSender()
  }

  #record(result: AttemptResult): void {
    const recording = this.#deps.resultWriter
      .add(result)
      .then(({ circuitOpened }) => {
        this.#claims.recorded([result.delivery.id])
        if (circuitOpened) this.end()
      })
      .catch((error: unknown) => this.fail(error))
      .finally(() => this.#recording.delete(recording))
    this.#recording.add(recording)
  }

  /** Resolves when all results so far are recorded or have failed to be. */
  async #flush(): Promise<void> {
    this.#deps.resultWriter.flush()
    await Promise.all(this.#recording)
  }

  checked(endpoint: EndpointCheck | undefined): void {
    if (endpoint === undefined) this.end()
    else if (!this.#claims.isCurrent(endpoint)) this.#refresh().catch((error: unknown) => this.fail(error))
    if (endpoint?.isDue) this.claimMore()
  }

  async #refresh(): Promise<void> {
    if (!(await this.#claims.refresh())) this.end()
  }

  /** The run ended between the promise of a lease and the commit: another one sends the deliveries. */
  async #returnGiven(): Promise<void> {
    const { queue, log } = this.#deps
    try {
      await this.#claims.release((tx) => queue.addIn(tx, DELIVER_QUEUE, [this.endpointId]))
    } catch (error) {
      log.warn('Cannot release webhook deliveries. They are sent when their lease expires.', {
        operation: 'webhooks.deliver',
        error,
        metadata: { endpointId: this.endpointId },
      })
    }
  }

  fail(error: unknown): void {
    this.#failure ??= { error }
    this.end()
  }

  #wakeSenders(count = this.#idleSenders.length): void {
    for (const wake of this.#idleSenders.splice(0, count)) wake()
  }
}
