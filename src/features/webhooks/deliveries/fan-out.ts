import { EVENTS_TOPIC, type EventRow, nextEvents, STAMPED_TOPIC, stampEvents } from '../../../events/index.ts'
import type { Bus } from '../../../infra/bus/index.ts'
import type { Db, Tx } from '../../../infra/db/index.ts'
import type { Log } from '../../../infra/log/index.ts'
import type { Queue } from '../../../infra/queue/index.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Ids } from '../../../lib/ids.ts'
import { endpointStore, type TargetRow } from '../endpoints/store.ts'
import { subscribes } from '../endpoints/subscriptions.ts'
import { opensAt } from '../sending/circuit.ts'
import type { DueHints } from '../sending/due-hints.ts'
import { newDelivery } from './delivery.ts'
import { type DuplicateFinder, type FindDuplicates, markDuplicates } from './duplicates.ts'
import { insertDeliveries } from './store.ts'

export interface FanOutDeps {
  db: Db
  bus: Bus
  queue: Queue
  clock: Clock
  ids: Ids
  log: Log
  duplicates: DuplicateFinder
}

/** The queue's lane whose subjects are endpoints with something due. */
export const DELIVER_QUEUE = 'deliver'

const SWEEP_MS = 5_000
/** How soon to look again when another replica was stamping and may have missed the newest events. */
const AGAIN_MS = 100
/** Behind an open circuit new deliveries are looked at this much later: not again and again, and not only after a long pause when it has just closed. */
const LOOK_AT_OPEN_MS = 5_000
/** Few enough that the file store, which holds up everything else meanwhile, is done within some milliseconds. */
const ROWS_PER_TRANSACTION = 200
/** How much less is expected after each batch that became few deliveries. */
const SLOWLY = 0.9

/**
 * Turns events into deliveries: one loop per process, woken by commits with events and by its own sweep; over all
 * replicas one at a time.
 */
export class FanOut {
  readonly #deps: FanOutDeps
  readonly #hints: DueHints
  /** Events per transaction, so that their deliveries stay few enough. */
  #batchSize = 100
  /** Deliveries that one event has become of late. */
  #perEvent = 1
  #running: Promise<void> | undefined
  #again = false
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

  /** Ends after the running transaction. What was not reached is still unstamped: the next start or a replica takes it. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#unsubscribe()
    clearTimeout(this.#sweep)
    await this.#running
    clearTimeout(this.#sweep)
  }

  wake(): void {
    this.#again = true
    if (this.#stopped) return
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined
      // A wake between the last look and this line would otherwise be lost.
      if (this.#again) this.wake()
    })
  }

  async #run(): Promise<void> {
    clearTimeout(this.#sweep)
    let pauseMs = SWEEP_MS
    try {
      while (this.#again && !this.#stopped) {
        this.#again = false
        pauseMs = (await this.#drained()) ? SWEEP_MS : AGAIN_MS
      }
    } catch (error) {
      this.#deps.log.error('Events could not be turned into deliveries; trying again.', {
        error,
        operation: 'webhooks.fan-out',
      })
    }
    if (!this.#stopped) this.#sweep = setTimeout(() => this.wake(), pauseMs)
  }

  /** Goes on until no event was left; false when another replica is at it. */
  async #drained(): Promise<boolean> {
    for (;;) {
      if (this.#stopped) return true
      const limit = this.#batchSize
      const count = await this.#next(limit)
      if (count === undefined) return false
      // Whatever was committed after this batch was read has woken us again.
      if (count < limit) return true
    }
  }

  /** How many events there were; undefined when another replica is at it. */
  async #next(limit: number): Promise<number | undefined> {
    const { db, duplicates } = this.#deps
    if (duplicates.ask === undefined) return db.transaction((tx) => this.#batch(tx, limit, duplicates.find))
    const [events, endpoints] = await Promise.all([nextEvents(db.read, limit), endpointStore(db.read).listTargets()])
    if (events.length === 0) return 0
    const find = await duplicates.ask([...new Set(matched(events, endpoints, (event) => event))])
    const chosen = events.map(({ id }) => id)
    const count = await db.transaction((tx) => this.#batch(tx, chosen, find))
    return count === undefined ? undefined : events.length
  }

  async #batch(tx: Tx, which: number | readonly string[], find: FindDuplicates): Promise<number | undefined> {
    const { db, clock, ids, queue } = this.#deps
    const events = await stampEvents(tx, db.dialect, which)
    if (events === undefined || events.length === 0) return events?.length
    tx.afterCommit(() => this.#deps.bus.publish(STAMPED_TOPIC))
    // Read after the events and not remembered: an endpoint deactivated before one was recorded must not get it.
    const endpoints = await endpointStore(tx).listTargets()
    const made = matched(events, endpoints, (event, endpoint) => newDelivery(ids, event, endpoint, clock.now()))
    this.#resize(made.length / events.length)
    const deliveries = await markDuplicates(tx, events, made, find)
    await insertDeliveries(tx, deliveries)
    const waiting = deliveries.filter((delivery) => delivery.nextAttemptAt !== null)
    const due = new Set(waiting.map((delivery) => delivery.endpointId))
    const isOpen = (endpoint: TargetRow) => opensAt(endpoint) > clock.now()
    const idsWhere = (open: boolean) =>
      endpoints.filter((one) => due.has(one.id) && isOpen(one) === open).map(({ id }) => id)
    const flowing = idsWhere(false)
    if (flowing.length > 0) {
      await queue.addIn(tx, DELIVER_QUEUE, flowing)
      tx.afterCommit(() => this.#hints.announce(flowing))
    }
    await queue.addIn(tx, DELIVER_QUEUE, idsWhere(true), { delayMs: LOOK_AT_OPEN_MS })
    return events.length
  }

  /** Smaller at once when events become more deliveries than before, larger little by little. */
  #resize(perEvent: number): void {
    this.#perEvent = Math.max(perEvent, 1, this.#perEvent * SLOWLY)
    const wanted = Math.floor(ROWS_PER_TRANSACTION / this.#perEvent)
    this.#batchSize = Math.max(1, Math.min(wanted, this.#batchSize * 2))
  }
}

function matched<T>(
  events: readonly EventRow[],
  endpoints: readonly TargetRow[],
  make: (event: EventRow, endpoint: TargetRow) => T,
): T[] {
  const subscriptions = endpoints.map((endpoint) => ({ endpoint, types: JSON.parse(endpoint.eventTypes) as string[] }))
  const known = new Map<string, TargetRow[]>()
  const interested = (type: string) => {
    const found = subscriptions.filter(({ types }) => subscribes(types, type)).map(({ endpoint }) => endpoint)
    known.set(type, found)
    return found
  }
  return events
    .filter((event) => event.fanOut === 1)
    .flatMap((event) => (known.get(event.type) ?? interested(event.type)).map((endpoint) => make(event, endpoint)))
}
