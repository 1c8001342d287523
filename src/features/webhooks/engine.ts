import { setMaxListeners } from 'node:events'
import type { Recorder } from '../../events/index.ts'
import type { Bus } from '../../infra/bus/index.ts'
import type { Db } from '../../infra/db/index.ts'
import type { Outbound } from '../../infra/http/index.ts'
import type { Log } from '../../infra/log/index.ts'
import type { AddressGuard } from '../../infra/net/index.ts'
import type { Queue, Worker } from '../../infra/queue/index.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Ids } from '../../lib/ids.ts'
import type { Sealer } from '../../lib/seal.ts'
import type { DuplicateFinder } from './deliveries/duplicates.ts'
import { DELIVER_QUEUE, FanOut } from './deliveries/fan-out.ts'
import { listEndpointsDue, releaseAllLeases } from './sending/claims-store.ts'
import { type DueHints, dueHints } from './sending/due-hints.ts'
import { deliverRun } from './sending/endpoint-run.ts'
import { inFlightLimit } from './sending/in-flight-limit.ts'
import { ResultWriter } from './sending/result-writer.ts'

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
  duplicates: DuplicateFinder
  /** How long a silent worker keeps what it claimed. Default 30,000. */
  leaseMs?: number
  /** How often what is due is announced again. Default 15,000. */
  sweepMs?: number
}

const SWEEP_MS = 15_000
/**
 * Endpoints worked on at once, each with at most 8 requests. Many, because a turn costs little while its requests hang: a
 * few hundred silent endpoints must not take every place until their circuits open.
 */
const CONCURRENCY = 1024

/** What runs in the background: events become deliveries, deliveries become requests, and what was forgotten is announced again. */
export class WebhookEngine {
  readonly #deps: WebhookDeps
  readonly #hints: DueHints
  readonly #fanOut: FanOut
  readonly #ending = new AbortController()
  #worker: Worker | undefined
  #sweep: NodeJS.Timeout | undefined
  #sweeping: Promise<void> = Promise.resolve()
  #stopping: Promise<void> | undefined

  constructor(deps: WebhookDeps) {
    this.#deps = deps
    // Every turn under way listens; Node would take the eleventh for a leak.
    setMaxListeners(0, this.#ending.signal)
    this.#hints = dueHints(deps.bus)
    this.#fanOut = new FanOut(deps, this.#hints)
  }

  async start(): Promise<void> {
    const { db, queue } = this.#deps
    // One process per file store: whoever held a lease is dead. On PostgreSQL leases run out by themselves.
    if (db.engine === 'sqlite') await db.transaction(releaseAllLeases)
    await this.#announceDue()
    this.#worker = queue.work(
      DELIVER_QUEUE,
      { concurrency: CONCURRENCY },
      deliverRun(
        { ...this.#deps, inFlightLimit: inFlightLimit(), resultWriter: new ResultWriter(this.#deps) },
        this.#hints,
        this.#ending.signal,
      ),
    )
    this.#fanOut.start()
    this.#sweep = setInterval(() => {
      this.#sweeping = this.#announceDue().catch((error: unknown) =>
        this.#deps.log.error('Due webhook deliveries could not be looked for.', { error, operation: 'webhooks.sweep' }),
      )
    }, this.#deps.sweepMs ?? SWEEP_MS)
  }

  /** Takes nothing new and waits for requests under way, at most `graceMs`; what is cut off is sent again after the next start. */
  stop(graceMs: number): Promise<void> {
    this.#stopping ??= this.#stop(graceMs)
    return this.#stopping
  }

  async #stop(graceMs: number): Promise<void> {
    this.#ending.abort()
    clearInterval(this.#sweep)
    await this.#sweeping
    await this.#fanOut.stop()
    await this.#worker?.stop(graceMs)
    this.#hints.close()
  }

  /** Losing a job, a hint, or the whole queue costs at most one round of this. */
  async #announceDue(): Promise<void> {
    const { db, queue, clock } = this.#deps
    const due = await listEndpointsDue(db, clock.now())
    if (due.length > 0) await db.transaction((tx) => queue.addIn(tx, DELIVER_QUEUE, due))
  }
}
