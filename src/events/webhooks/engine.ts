import { setMaxListeners } from 'node:events'
import type { Bus } from '../../platform/bus/index.ts'
import type { Sealer } from '../../platform/crypto/seal.ts'
import { type Db, releaseLeasesOfDead } from '../../platform/db/index.ts'
import type { Ids } from '../../platform/ids.ts'
import type { Log } from '../../platform/log/index.ts'
import type { AddressGuard } from '../../platform/net/index.ts'
import type { Outbound } from '../../platform/outbound/index.ts'
import type { Queue, Worker } from '../../platform/queue/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { Recorder } from '../index.ts'
import { FanOut, type FanOutDeps } from './deliveries/fan-out.ts'
import type { DuplicateFinder } from './deliveries/mark-duplicates.ts'
import { inFlightLimit } from './sending/claims.ts'
import { type DueHints, dueHints } from './sending/due-hints.ts'
import { DELIVER_QUEUE, deliverRun } from './sending/endpoint-worker.ts'
import { DELIVERIES, listEndpointsDue } from './sending/leases.ts'
import { RecentEvents } from './sending/recent-events.ts'
import { ResultWriter, type ResultWriterDeps } from './sending/result-writer.ts'
import type { RunningWorkers } from './sending/running-workers.ts'
import { Sender, type SenderDeps } from './sending/thread/sender.ts'
import { WorkerChecks } from './sending/worker-checks.ts'

export interface WebhookDeps {
  db: Db
  bus: Bus
  queue: Queue
  clock: Clock
  ids: Ids
  log: Log
  sealer: Sealer
  recorder: Recorder
  outbound: Outbound
  guard: AddressGuard
  /** For the thread that sends while much is sent. Without it, the main thread sends everything. */
  sendingThread?: SenderDeps['thread']
  duplicates: DuplicateFinder
  /** For the metrics: the attempts of each transaction, and the number of suppressed deliveries. */
  onAttempts?: ResultWriterDeps['onAttempts']
  onDuplicates?(deliveries: number): void
  /** For the charts of the portal: the events of each fan-out, and the results of each transaction. */
  onEvents?: FanOutDeps['onEvents']
  onResults?: ResultWriterDeps['onResults']
  /** How long a silent worker keeps its claims. Default 30,000. */
  leaseMs?: number
  /** How long a run for one endpoint takes at most. Default 30,000. */
  maxRunMs?: number
  /** How often due deliveries are queued again. Default 15,000. */
  sweepMs?: number
}

const SWEEP_MS = 15_000
/**
 * Endpoints processed at once, each with up to 32 requests. High, because a run costs little while its requests hang:
 * a few hundred unresponsive endpoints must not occupy every worker until their circuits open.
 */
const CONCURRENCY = 2048

/** The background work: the fan-out, the workers that send, and the sweeper that queues due deliveries again. */
export class WebhookEngine {
  readonly #deps: WebhookDeps
  readonly #hints: DueHints
  readonly #recentEvents: RecentEvents
  readonly #runningWorkers: RunningWorkers = new Map()
  readonly #fanOut: FanOut
  readonly #checks: WorkerChecks
  readonly #sender: Sender
  readonly #stopSignal = new AbortController()
  #worker: Worker | undefined
  #sweep: NodeJS.Timeout | undefined
  #sweeping: Promise<void> = Promise.resolve()
  #stopping: Promise<void> | undefined

  constructor(deps: WebhookDeps) {
    this.#deps = deps
    // Every running worker listens; Node reports more than ten listeners as a leak.
    setMaxListeners(0, this.#stopSignal.signal)
    this.#hints = dueHints(deps.bus)
    this.#sender = new Sender({ ...deps, ...(deps.sendingThread && { thread: deps.sendingThread }) })
    this.#recentEvents = new RecentEvents(deps.clock)
    const shared = { recentEvents: this.#recentEvents, runningWorkers: this.#runningWorkers }
    this.#fanOut = new FanOut({ ...deps, ...shared }, this.#hints)
    this.#checks = new WorkerChecks({ ...deps, ...shared })
  }

  async start(): Promise<void> {
    const { db, queue } = this.#deps
    const sending = {
      ...this.#deps,
      recentEvents: this.#recentEvents,
      runningWorkers: this.#runningWorkers,
      inFlightLimit: inFlightLimit(),
      resultWriter: new ResultWriter(this.#deps),
      sender: this.#sender,
    }
    await releaseLeasesOfDead(db, DELIVERIES)
    await this.#queueDue()
    this.#worker = queue.work(
      DELIVER_QUEUE,
      { concurrency: CONCURRENCY },
      deliverRun(sending, this.#hints, this.#stopSignal.signal),
    )
    this.#checks.start()
    this.#fanOut.start()
    this.#sweep = setInterval(() => {
      this.#recentEvents.purge()
      this.#sweeping = this.#queueDue().catch((error: unknown) =>
        this.#deps.log.error('Cannot query due webhook deliveries; trying again at the next sweep.', {
          error,
          operation: 'webhooks.sweep',
        }),
      )
    }, this.#deps.sweepMs ?? SWEEP_MS)
  }

  /** Starts no new requests and waits up to `graceMs` for those in flight. Aborted deliveries are sent again after the next start. */
  stop(graceMs: number): Promise<void> {
    this.#stopping ??= this.#stop(graceMs)
    return this.#stopping
  }

  async #stop(graceMs: number): Promise<void> {
    this.#stopSignal.abort()
    clearInterval(this.#sweep)
    await this.#sweeping
    await this.#fanOut.stop()
    await this.#worker?.stop(graceMs)
    await this.#checks.stop()
    await this.#sender.close()
    this.#hints.close()
  }

  /** A lost job, a lost hint, or the loss of the whole queue delays deliveries by at most one sweep. */
  async #queueDue(): Promise<void> {
    const { db, queue, clock } = this.#deps
    const due = await listEndpointsDue(db, clock.now())
    if (due.length > 0) await db.transaction((tx) => queue.addIn(tx, DELIVER_QUEUE, due))
  }
}
