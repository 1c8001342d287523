import type { Bus } from '../../../platform/bus/index.ts'
import { sleep } from '../../../platform/concurrency/abort.ts'
import type { Db, Tx } from '../../../platform/db/index.ts'
import type { Ids } from '../../../platform/ids.ts'
import type { Log } from '../../../platform/log/index.ts'
import type { Queue } from '../../../platform/queue/index.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import {
  EVENTS_TOPIC,
  type EventRow,
  isStampingElsewhere,
  nextEvents,
  STAMPED_TOPIC,
  stampEvents,
  withholdEvents,
} from '../../index.ts'
import { endpointStore, type TargetRow } from '../endpoints/store.ts'
import { opensAt } from '../sending/circuit.ts'
import type { DueHints } from '../sending/due-hints.ts'
import { DELIVER_QUEUE } from '../sending/endpoint-worker.ts'
import type { RecentEvents } from '../sending/recent-events.ts'
import { claimForWorkers, type RunningWorkers } from '../sending/running-workers.ts'
import { sendable } from './erasure.ts'
import { type DuplicateFinder, type FindDuplicates, markDuplicates } from './mark-duplicates.ts'
import { matched, newDelivery } from './new-delivery.ts'
import { insertDeliveries } from './store.ts'

export interface FanOutDeps {
  db: Db
  bus: Bus
  queue: Queue
  clock: Clock
  ids: Ids
  log: Log
  duplicates: DuplicateFinder
  recentEvents: RecentEvents
  runningWorkers: RunningWorkers
  /** Called with the number of suppressed deliveries, for the metrics. */
  onDuplicates?(deliveries: number): void
  /** Called with the events of each transaction, without those of deleted accounts. */
  onEvents?: ((events: readonly EventRow[]) => void) | undefined
}

const SWEEP_MS = 5_000
/** The next check when another replica was running the fan-out and may have missed the newest events. */
const RECHECK_MS = 100
/** Delay of the job for deliveries behind an open circuit: neither a run per event nor a long wait once the circuit closes. */
const OPEN_CIRCUIT_DELAY_MS = 5_000
/** Bounds how long a transaction of the file store holds the event loop. */
const ROWS_PER_TRANSACTION = 200
/** After this many events at once, more are on their way: the next fan-out waits for them, because it costs as much for one. */
const BURST_EVENTS = 16
const GATHER_MS = 20
/** Factor by which the expected deliveries per event shrink after each batch. */
const DECAY = 0.9

/**
 * Turns events into deliveries: one loop per process, woken by commits with events and by its own sweep. Only one replica
 * runs it at a time.
 */
export class FanOut {
  readonly #deps: FanOutDeps
  readonly #hints: DueHints
  /** Events per transaction, adapted so that their deliveries stay within ROWS_PER_TRANSACTION. */
  #batchSize = 100
  /** Recent deliveries per event. */
  #perEvent = 1
  /** When the last fan-out ended (monotonic), and how many events it processed. */
  #last = { atMs: Number.NEGATIVE_INFINITY, events: 0 }
  #running: Promise<void> | undefined
  #again = false
  /** Another replica was running the fan-out. Hints wake that one too, so this one waits for its next check. */
  #isElsewhere = false
  #isCheckDue = false
  #stopped = false
  #sweep: NodeJS.Timeout | undefined
  #unsubscribe: () => void = () => {}

  constructor(deps: FanOutDeps, hints: DueHints) {
    this.#deps = deps
    this.#hints = hints
  }

  start(): void {
    this.#unsubscribe = this.#deps.bus.subscribe(EVENTS_TOPIC, () => this.wake())
    this.wake()
  }

  /** Ends after the running transaction. The remaining events stay unstamped for a replica or the next start. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#unsubscribe()
    clearTimeout(this.#sweep)
    await this.#running
    clearTimeout(this.#sweep)
  }

  wake(): void {
    this.#again = true
    if (this.#stopped || (this.#isElsewhere && !this.#isCheckDue)) return
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
      // A wake after the last check and before this line would otherwise be lost.
      if (this.#again) this.wake()
    })
  }

  async #run(): Promise<void> {
    clearTimeout(this.#sweep)
    try {
      while (this.#again && !this.#stopped) {
        await this.#gather()
        this.#again = false
        this.#isElsewhere = !(await this.#drain())
        this.#isCheckDue = false
        if (this.#isElsewhere) break
      }
    } catch (error) {
      this.#isElsewhere = false
      this.#deps.log.error('Cannot create deliveries for new events; trying again.', {
        error,
        operation: 'webhooks.fan-out',
      })
    }
    if (!this.#stopped) this.#sweep = setTimeout(() => this.#check(), this.#isElsewhere ? RECHECK_MS : SWEEP_MS)
  }

  #check(): void {
    this.#isCheckDue = true
    this.wake()
  }

  async #gather(): Promise<void> {
    const { atMs, events } = this.#last
    const waitMs = events < BURST_EVENTS ? 0 : atMs + GATHER_MS - this.#deps.clock.monotonic()
    if (waitMs > 0) await sleep(waitMs)
  }

  /** Runs until no event is left. Returns false when another replica is running the fan-out. */
  async #drain(): Promise<boolean> {
    for (let events = 0; ; ) {
      if (this.#stopped) return true
      const limit = this.#batchSize
      const count = await this.#next(limit)
      if (count === undefined) return false
      events += count
      this.#last = { atMs: this.#deps.clock.monotonic(), events }
      // Events committed after this read wake the loop again.
      if (count < limit) return true
    }
  }

  /** Returns the number of events; undefined when another replica is running the fan-out. */
  async #next(limit: number): Promise<number | undefined> {
    const { db, duplicates } = this.#deps
    if (duplicates.ask === undefined) return db.transaction((tx) => this.#batch(tx, limit, duplicates.find))
    // Reading events and asking for duplicates costs more than the lock, and would be in vain.
    if (this.#isElsewhere && (await isStampingElsewhere(db.read, db.dialect))) return undefined
    this.#isElsewhere = false
    const [events, endpoints] = await Promise.all([nextEvents(db.read, limit), endpointStore(db.read).listTargets()])
    if (events.length === 0) return 0
    const find = await duplicates.ask([...new Set(matched(events, endpoints, (event) => event))])
    const chosen = events.map(({ id }) => id)
    const count = await db.transaction((tx) => this.#batch(tx, chosen, find))
    return count === undefined ? undefined : events.length
  }

  async #batch(tx: Tx, which: number | readonly string[], find: FindDuplicates): Promise<number | undefined> {
    const { db, clock, ids, queue, runningWorkers } = this.#deps
    const stamped = await stampEvents(tx, db.dialect, which)
    if (stamped === undefined || stamped.length === 0) return stamped?.length
    const events = await sendable(tx, stamped)
    const withheld = stamped.filter((event) => !events.includes(event))
    await withholdEvents(
      tx,
      withheld.map(({ id }) => id),
    )
    tx.afterCommit(() => {
      this.#deps.bus.publish(STAMPED_TOPIC)
      this.#deps.onEvents?.(events)
    })
    // Read after the events and never cached: an endpoint deactivated before an event must not get it.
    const endpoints = await endpointStore(tx).listTargets()
    const made = matched(events, endpoints, (event, endpoint) => newDelivery(ids, event, endpoint, clock.now()))
    this.#resize(made.length / stamped.length)
    const marked = await markDuplicates(tx, events, made, find)
    const { deliveries, give } = await claimForWorkers(tx, db.dialect, runningWorkers, endpoints, marked)
    await insertDeliveries(tx, deliveries)
    tx.afterCommit(() => give(events))
    const suppressed = deliveries.filter(({ status }) => status === 'deduplicated').length
    if (suppressed > 0) tx.afterCommit(() => this.#deps.onDuplicates?.(suppressed))
    const waiting = deliveries.filter(({ nextAttemptAt, lease }) => nextAttemptAt !== null && lease === null)
    const due = new Set(waiting.map((delivery) => delivery.endpointId))
    const isOpen = (endpoint: TargetRow) => opensAt(endpoint) > clock.now()
    const idsWhere = (open: boolean) =>
      endpoints.filter((endpoint) => due.has(endpoint.id) && isOpen(endpoint) === open).map(({ id }) => id)
    const ready = idsWhere(false)
    if (ready.length > 0) {
      await queue.addIn(tx, DELIVER_QUEUE, ready)
      tx.afterCommit(() => {
        this.#deps.recentEvents.add(events, waiting)
        this.#hints.announce(ready)
      })
    }
    await queue.addIn(tx, DELIVER_QUEUE, idsWhere(true), { delayMs: OPEN_CIRCUIT_DELAY_MS })
    return stamped.length
  }

  /** Shrinks at once when events have more deliveries than before, and grows gradually. */
  #resize(perEvent: number): void {
    this.#perEvent = Math.max(perEvent, 1, this.#perEvent * DECAY)
    const wanted = Math.floor(ROWS_PER_TRANSACTION / this.#perEvent)
    this.#batchSize = Math.max(1, Math.min(wanted, this.#batchSize * 2))
  }
}
