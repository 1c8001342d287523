import { randomUUID } from 'node:crypto'
import { type EventRow, findEvents } from '../../../events/index.ts'
import type { Db, Tx } from '../../../infra/db/index.ts'
import type { Clock } from '../../../lib/clock.ts'
import type { Sealer } from '../../../lib/seal.ts'
import type { DeliveryRow, Lease } from '../deliveries/delivery.ts'
import { type EndpointRow, type OpenEndpoint, openEndpoint } from '../endpoints/endpoint.ts'
import { endpointStore } from '../endpoints/store.ts'
import { opensAt, probing } from './circuit.ts'
import { cancelForEndpoint, cancelHeld, claimDue, releaseLease, renewLease } from './claims-store.ts'
import type { InFlightLimit } from './in-flight-limit.ts'

/** One delivery ready to be sent, with the endpoint as it is at this moment (or was a second ago). */
export interface Claimed {
  delivery: DeliveryRow
  event: EventRow
  endpoint: OpenEndpoint
}

/** Deliveries claimed at once: few at first, more while they go quickly. A slow endpoint holds few. */
const FEWEST_ROWS = 8
const MOST_ROWS = 64
const QUICK_MS = 1000
const LEASE_MS = 30_000
const CANCELLED_AT_ONCE = 500

export interface ClaimDeps {
  db: Db
  clock: Clock
  sealer: Sealer
  /** How long a silent worker keeps what it claimed. Default 30,000. */
  leaseMs?: number
  inFlightLimit: InFlightLimit
}

/** The due deliveries of one endpoint, claimed in batches and held by a lease that is renewed until they are settled. */
export class Claims {
  readonly #deps: ClaimDeps
  readonly #endpointId: string
  readonly lease: Lease
  /** Ids, and what their events take. */
  readonly #held = new Map<string, number>()
  #waiting: Pick<Claimed, 'delivery' | 'event'>[] = []
  #endpoint: OpenEndpoint | undefined
  #renewedAt: number
  #rows = FEWEST_ROWS
  #claimedAt = Number.NEGATIVE_INFINITY

  constructor(deps: ClaimDeps, endpointId: string) {
    this.#deps = deps
    this.#endpointId = endpointId
    this.lease = { token: randomUUID(), forMs: deps.leaseMs ?? LEASE_MS }
    this.#renewedAt = deps.clock.monotonic()
  }

  take(): Claimed | undefined {
    const endpoint = this.#endpoint
    const next = endpoint === undefined ? undefined : this.#waiting.shift()
    return next === undefined || endpoint === undefined ? undefined : { ...next, endpoint }
  }

  /** Claims the next batch. Answers whether there may be more behind it. */
  async claim(): Promise<boolean> {
    const { db, inFlightLimit } = this.#deps
    const limit = inFlightLimit.isFull ? 1 : this.#nextRows()
    const { row, deliveries } = await db.transaction((tx) => this.#claimIn(tx, limit))
    if (row === undefined || deliveries.length === 0) return false
    for (const { id } of deliveries) this.#held.set(id, 0)
    this.#open(row)
    const events = await findEvents(db.read, [...new Set(deliveries.map((delivery) => delivery.eventId))])
    const orphans: string[] = []
    for (const delivery of deliveries) {
      const event = events.get(delivery.eventId)
      if (event === undefined) orphans.push(delivery.id)
      else this.#waiting.push({ delivery, event })
      this.#held.set(delivery.id, event?.data.length ?? 0)
      inFlightLimit.add(event?.data.length ?? 0)
    }
    // An event vanishes only with its account or by age; what it was to say must not be said any more.
    if (orphans.length > 0) await db.transaction((tx) => cancelHeld(tx, orphans, this.lease.token))
    this.settled(orphans)
    return deliveries.length === limit
  }

  #nextRows(): number {
    const now = this.#deps.clock.monotonic()
    const isQuick = now - this.#claimedAt < QUICK_MS
    this.#claimedAt = now
    this.#rows = isQuick ? Math.min(MOST_ROWS, this.#rows * 2) : FEWEST_ROWS
    return this.#rows
  }

  async #claimIn(tx: Tx, limit: number): Promise<{ row: EndpointRow | undefined; deliveries: DeliveryRow[] }> {
    const row = await endpointStore(tx).find(this.#endpointId)
    // What a fan-out made while the endpoint was deleted: a batch at most.
    if (row === undefined) await cancelForEndpoint(tx, this.#endpointId, CANCELLED_AT_ONCE)
    if (row?.isActive !== 1) return { row, deliveries: [] }
    const deliveries = row.circuitState === 'closed' ? await this.#take(tx, limit) : await this.#takeProbe(tx)
    return { row, deliveries }
  }

  #take(tx: Tx, limit: number): Promise<DeliveryRow[]> {
    const { db, clock } = this.#deps
    return claimDue(tx, db.dialect, this.#endpointId, this.lease, clock.now(), limit)
  }

  /** At most one, of all replicas together: the circuit is half open from then on. */
  async #takeProbe(tx: Tx): Promise<DeliveryRow[]> {
    const { db, clock } = this.#deps
    const store = endpointStore(tx)
    const endpoint = await store.findLocked(this.#endpointId, db.dialect)
    if (endpoint === undefined || endpoint.circuitState === 'closed' || opensAt(endpoint) > clock.now()) return []
    const deliveries = await this.#take(tx, 1)
    if (deliveries.length > 0) await store.update(endpoint.id, probing(endpoint, clock.now()))
    return deliveries
  }

  /** Opening what is sealed costs more than a claim; it is done again only when it changed. */
  #open(row: EndpointRow): void {
    const known = this.#endpoint
    const same = known !== undefined && known.row.secrets === row.secrets && known.row.headers === row.headers
    this.#endpoint = same ? { ...known, row } : openEndpoint(row, this.#deps.sealer)
  }

  settled(ids: readonly string[]): void {
    for (const id of ids) {
      this.#deps.inFlightLimit.add(-(this.#held.get(id) ?? 0))
      this.#held.delete(id)
    }
  }

  /**
   * Call it every second or so: looks at the endpoint's settings again, and renews the lease when a third of it has run.
   * Answers false when the endpoint wants no deliveries any more.
   */
  async refresh(): Promise<boolean> {
    const { db, clock } = this.#deps
    const row = await endpointStore(db.read).find(this.#endpointId)
    if (row?.isActive !== 1) return false
    this.#open(row)
    if (this.#held.size > 0 && clock.monotonic() - this.#renewedAt >= this.lease.forMs / 3) {
      this.#renewedAt = clock.monotonic()
      await db.transaction((tx) => renewLease(tx, db.dialect, [...this.#held.keys()], this.lease))
    }
    return true
  }

  /** Gives back everything that is still held. */
  async release(): Promise<void> {
    const ids = [...this.#held.keys()]
    this.settled(ids)
    this.#waiting = []
    if (ids.length > 0) await this.#deps.db.transaction((tx) => releaseLease(tx, ids, this.lease.token))
  }
}
