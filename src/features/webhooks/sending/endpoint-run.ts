import type { Recorder } from '../../../events/index.ts'
import type { Db } from '../../../infra/db/index.ts'
import type { Outbound } from '../../../infra/http/index.ts'
import type { Log } from '../../../infra/log/index.ts'
import type { Run } from '../../../infra/queue/index.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Sealer } from '../../../lib/seal.ts'
import { endpointStore } from '../endpoints/store.ts'
import { attempt } from './attempt.ts'
import { attemptInput } from './attempt-input.ts'
import { FAILURES_TO_OPEN, opensAt } from './circuit.ts'
import { type Claimed, Claims } from './claims.ts'
import { findNextDue } from './claims-store.ts'
import type { DueHints } from './due-hints.ts'
import type { InFlightLimit } from './in-flight-limit.ts'
import type { ResultWriter } from './result-writer.ts'
import { type AttemptResult, isGone } from './results.ts'

export interface DeliverDeps {
  db: Db
  clock: Clock
  log: Log
  sealer: Sealer
  recorder: Recorder
  outbound: Outbound
  /** How long a silent worker keeps what it claimed. Default 30,000. */
  leaseMs?: number
  inFlightLimit: InFlightLimit
  resultWriter: ResultWriter
}

/** Requests to one endpoint at a time. */
const PARALLEL = 8
/** Looks for due deliveries this often while requests are on their way, hints or not. */
const TICK_MS = 1_000
/** After this long the endpoint goes to the back of the queue, so that others get their turn. */
const TURN_MS = 30_000

/**
 * The work of the queue's lane `deliver`: sends what is due at one endpoint and says when to come back. Once `stopping` has
 * fired it begins nothing new; requests on their way are cut off only by the run's own signal.
 */
export function deliverRun(deps: DeliverDeps, hints: DueHints, stopping: AbortSignal): Run {
  return async (endpointId, { signal }) => {
    const drain = new Drain(deps, endpointId, signal)
    const end = () => drain.end()
    stopping.addEventListener('abort', end)
    const stopListening = hints.listen(endpointId, () => drain.look())
    try {
      if (stopping.aborted) end()
      await drain.run()
    } finally {
      stopListening()
      stopping.removeEventListener('abort', end)
    }
    const nowMs = deps.clock.now()
    const nextDueAt = await findNextDue(deps.db, endpointId)
    const endpoint = nextDueAt === undefined ? undefined : await endpointStore(deps.db.read).find(endpointId)
    // An inactive endpoint's deliveries wait until someone activates it, which announces it again.
    if (nextDueAt === undefined || endpoint?.isActive !== 1) return undefined
    return { nextRunInMs: Math.max(0, Math.max(nextDueAt, opensAt(endpoint)) - nowMs) }
  }
}

/**
 * One turn at one endpoint:
 *
 *     claim a batch ─▶ 8 lanes: sign, send ─▶ recordResults a batch
 *
 * A lane that finds nothing waits while others are on their way: one hanging request must not hold up what comes due
 * meanwhile. The turn ends when nothing is due and nothing is on its way.
 */
class Drain {
  readonly #deps: DeliverDeps
  readonly #signal: AbortSignal
  readonly #claims: Claims
  #mayBeMore = true
  #claiming: Promise<void> | undefined
  /** Taken by a lane and not finished. */
  #onTheirWay = 0
  /** Being written. */
  readonly #unsettled = new Set<Promise<void>>()
  #failedInRow = 0
  #ending = false
  #failure: { error: unknown } | undefined
  #sleepers: (() => void)[] = []

  constructor(deps: DeliverDeps, endpointId: string, signal: AbortSignal) {
    this.#deps = deps
    this.#signal = signal
    this.#claims = new Claims(deps, endpointId)
  }

  /** Something may have come due. */
  look(): void {
    this.#mayBeMore = true
    this.#wake()
  }

  /** Claims nothing more and begins no more requests. */
  end(): void {
    this.#ending = true
    this.#wake()
  }

  async run(): Promise<void> {
    const end = () => this.end()
    this.#signal.addEventListener('abort', end, { once: true })
    if (this.#signal.aborted) end()
    const turn = setTimeout(end, TURN_MS)
    const tick = setInterval(() => void this.#tick(), TICK_MS)
    try {
      await Promise.all(Array.from({ length: PARALLEL }, () => this.#lane()))
    } finally {
      clearTimeout(turn)
      clearInterval(tick)
      this.#signal.removeEventListener('abort', end)
      await this.#flush()
      await this.#claims.release()
    }
    if (this.#failure !== undefined) throw this.#failure.error
  }

  async #lane(): Promise<void> {
    try {
      for (let claimed = await this.#next(); claimed !== undefined; claimed = await this.#next()) {
        await this.#send(claimed)
      }
    } catch (error) {
      if (!this.#signal.aborted) this.#fail(error)
    }
  }

  async #next(): Promise<Claimed | undefined> {
    while (!this.#ending) {
      const claimed = this.#claims.take()
      if (claimed !== undefined) {
        this.#onTheirWay += 1
        return claimed
      }
      if (this.#mayBeMore || this.#claiming !== undefined) await this.#claim()
      else if (this.#onTheirWay === 0) this.end()
      else await new Promise<void>((resolve) => this.#sleepers.push(resolve))
    }
    return undefined
  }

  #claim(): Promise<void> {
    this.#claiming ??= this.#claimOnce().finally(() => {
      this.#claiming = undefined
    })
    return this.#claiming
  }

  async #claimOnce(): Promise<void> {
    this.#mayBeMore = false
    if (await this.#claims.claim()) this.#mayBeMore = true
    this.#wake()
  }

  async #send({ delivery, event, endpoint }: Claimed): Promise<void> {
    try {
      const input = attemptInput(delivery, event, endpoint, this.#deps.clock.now())
      const outcome = await attempt(input, this.#deps, this.#signal)
      this.#recordResults({ delivery, lease: this.#claims.lease.token, endpoint: endpoint.row, outcome })
      if (isGone(outcome)) this.end()
      this.#failedInRow = outcome.error === null ? 0 : this.#failedInRow + 1
      // The circuit may be open: known before anything more is sent.
      if (this.#failedInRow >= FAILURES_TO_OPEN) await this.#flush()
    } finally {
      this.#onTheirWay -= 1
      if (this.#onTheirWay === 0) this.#wake()
    }
  }

  #recordResults(attempted: AttemptResult): void {
    const settling = this.#deps.resultWriter
      .add(attempted)
      .then(({ endpointBroken }) => {
        this.#claims.settled([attempted.delivery.id])
        if (endpointBroken) this.end()
      })
      .catch((error: unknown) => this.#fail(error))
      .finally(() => this.#unsettled.delete(settling))
    this.#unsettled.add(settling)
  }

  /** Until everything that was attempted so far is written, or cannot be. */
  async #flush(): Promise<void> {
    this.#deps.resultWriter.hurry()
    await Promise.all(this.#unsettled)
  }

  async #tick(): Promise<void> {
    try {
      if (await this.#claims.refresh()) this.look()
      else this.end()
    } catch (error) {
      this.#fail(error)
    }
  }

  #fail(error: unknown): void {
    this.#failure ??= { error }
    this.end()
  }

  #wake(): void {
    const sleepers = this.#sleepers
    this.#sleepers = []
    for (const wake of sleepers) wake()
  }
}
