import { randomUUID } from 'node:crypto'
import type { Sealer } from '../../../platform/crypto/seal.ts'
import { type Db, leasedRows, type RowLease, type Tx } from '../../../platform/db/index.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import type { EventRow } from '../../index.ts'
import { sendable } from '../deliveries/erasure.ts'
import { type EndpointRow, type OpenEndpoint, openEndpoint } from '../endpoints/endpoint.ts'
import { endpointStore } from '../endpoints/store.ts'
import type { DeliveryRow } from '../tables.ts'
import { opensAt, probing } from './circuit.ts'
import { cancelForEndpoint, cancelHeld, DELIVERIES } from './leases.ts'
import type { RecentEvents } from './recent-events.ts'
import type { GivenDelivery } from './running-workers.ts'

/** A delivery ready to be sent, with its event and its endpoint's current settings (at most a second old). */
export interface Claimed {
  delivery: DeliveryRow
  event: EventRow
  endpoint: OpenEndpoint
}

/** Batch size: small at first, doubled while batches finish quickly. A slow endpoint holds few deliveries. */
const FEWEST_ROWS = 8
const MOST_ROWS = 256
const QUICK_MS = 1000
const LEASE_MS = 30_000
const CANCELLED_AT_ONCE = 500

/** Bounds the event data that the process holds in claimed deliveries. While it is full, workers claim one delivery at a time. */
export interface InFlightLimit {
  readonly isFull: boolean
  /** Adds characters, or removes them when negative. */
  add(length: number): void
}

/** Characters. */
const FULL_AT = 32 * 1024 * 1024

export function inFlightLimit(fullAt = FULL_AT): InFlightLimit {
  let held = 0
  return {
    get isFull() {
      return held >= fullAt
    },
    add(length) {
      held += length
    },
  }
}

interface ClaimDeps {
  db: Db
  clock: Clock
  sealer: Sealer
  /** How long a silent worker keeps its claims. Default 30,000. */
  leaseMs?: number
  inFlightLimit: InFlightLimit
  recentEvents: RecentEvents
}

/** The due deliveries of one endpoint, claimed in batches. A lease holds them, renewed until their results are recorded. */
export class Claims {
  readonly #deps: ClaimDeps
  readonly #endpointId: string
  readonly lease: RowLease
  /** Characters of event data by delivery id. */
  readonly #held = new Map<string, number>()
  #waiting: GivenDelivery[] = []
  /** The delivery that probes the endpoint, and until when no other one may. */
  #probe: { id: string; untilMs: number | null } | undefined
  #endpoint: OpenEndpoint | undefined
  #rows = FEWEST_ROWS
  #claimedAt = Number.NEGATIVE_INFINITY

  constructor(deps: ClaimDeps, endpointId: string) {
    this.#deps = deps
    this.#endpointId = endpointId
    this.lease = { token: randomUUID(), forMs: deps.leaseMs ?? LEASE_MS }
  }

  /** Claimed deliveries that nobody has taken. */
  get waiting(): number {
    return this.#waiting.length
  }

  take(): Claimed | undefined {
    const endpoint = this.#endpoint
    const next = endpoint === undefined ? undefined : this.#waiting.shift()
    return next === undefined || endpoint === undefined ? undefined : { ...next, endpoint }
  }

  /** Whether the circuit was closed when the endpoint was last read. */
  get isClosed(): boolean {
    return this.#endpoint?.row.circuitState === 'closed'
  }

  /** Whether it takes deliveries that it need not claim: it knows the endpoint as it was stored then, and the circuit is closed. */
  mayAdd(updatedAt: number): boolean {
    return this.#endpoint?.row.updatedAt === updatedAt && this.isClosed && !this.#deps.inFlightLimit.isFull
  }

  /** Adds deliveries that were stored under the lease. */
  add(deliveries: readonly GivenDelivery[]): void {
    for (const { delivery, event } of deliveries) {
      this.#waiting.push({ delivery, event })
      this.#held.set(delivery.id, event.data.length)
      this.#deps.inFlightLimit.add(event.data.length)
    }
  }

  /** Claims the next batch. Returns whether more deliveries may be due. */
  async claim(): Promise<boolean> {
    const { db, inFlightLimit, recentEvents } = this.#deps
    const limit = inFlightLimit.isFull ? 1 : this.#nextRows()
    const { row, deliveries } = await db.transaction((tx) => this.#claimIn(tx, limit))
    this.#claimedAt = this.#deps.clock.monotonic()
    if (row === undefined || deliveries.length === 0) return false
    for (const { id } of deliveries) this.#held.set(id, 0)
    this.#open(row)
    const events = await recentEvents.take(db.read, deliveries)
    const allowed = new Set(await sendable(db.read, [...events.values()]))
    const orphaned: string[] = []
    for (const delivery of deliveries) {
      const event = events.get(delivery.eventId)
      if (event !== undefined && allowed.has(event)) this.add([{ delivery, event }])
      else orphaned.push(delivery.id)
    }
    // Their account was deleted, or their events are too old.
    if (orphaned.length > 0) await db.transaction((tx) => cancelHeld(tx, orphaned, this.lease.token))
    this.recorded(orphaned)
    return deliveries.length === limit
  }

  #nextRows(): number {
    const isQuick = this.#deps.clock.monotonic() - this.#claimedAt < QUICK_MS
    this.#rows = isQuick ? Math.min(MOST_ROWS, this.#rows * 2) : FEWEST_ROWS
    return this.#rows
  }

  async #claimIn(tx: Tx, limit: number): Promise<{ row: EndpointRow | undefined; deliveries: DeliveryRow[] }> {
    const row = await endpointStore(tx).find(this.#endpointId)
    // A fan-out may have stored deliveries while the endpoint was deleted: at most one batch.
    if (row === undefined) await cancelForEndpoint(tx, this.#endpointId, CANCELLED_AT_ONCE)
    if (row?.isActive !== 1) return { row, deliveries: [] }
    const deliveries = row.circuitState === 'closed' ? await this.#take(tx, limit) : await this.#takeProbe(tx)
    return { row, deliveries }
  }

  async #take(tx: Tx, limit: number): Promise<DeliveryRow[]> {
    const { db, clock } = this.#deps
    const due = { key: this.#endpointId, nowMs: clock.now(), limit }
    const claimed = await leasedRows(tx, db.dialect, DELIVERIES).claim(due, this.lease)
    return claimed.map(({ row }) => row)
  }

  /** Claims at most one delivery over all replicas and makes the circuit half open. */
  async #takeProbe(tx: Tx): Promise<DeliveryRow[]> {
    const { db, clock } = this.#deps
    const store = endpointStore(tx)
    const endpoint = await store.findLocked(this.#endpointId, db.dialect)
    if (endpoint === undefined || endpoint.circuitState === 'closed' || opensAt(endpoint) > clock.now()) return []
    const deliveries = await this.#take(tx, 1)
    const [delivery] = deliveries
    if (delivery === undefined) return []
    const half = probing(endpoint, clock.now())
    await store.update(endpoint.id, half)
    this.#probe = { id: delivery.id, untilMs: half.circuitProbeAt }
    return deliveries
  }

  /** Decrypting costs more than a claim, so it is repeated only when the sealed values changed. */
  #open(row: EndpointRow): void {
    const opened = this.#endpoint
    const isSame = opened !== undefined && opened.row.secrets === row.secrets && opened.row.headers === row.headers
    this.#endpoint = isSame ? { ...opened, row } : openEndpoint(row, this.#deps.sealer)
  }

  recorded(ids: readonly string[]): void {
    for (const id of ids) {
      this.#deps.inFlightLimit.add(-(this.#held.get(id) ?? 0))
      this.#held.delete(id)
    }
  }

  /** Whether the endpoint, as it was last read, has these settings and this state. */
  isCurrent({ updatedAt, circuitState }: Pick<EndpointRow, 'updatedAt' | 'circuitState'>): boolean {
    const row = this.#endpoint?.row
    return row === undefined || (row.updatedAt === updatedAt && row.circuitState === circuitState)
  }

  /** Reads the endpoint again. Returns false when it was deactivated or deleted. */
  async refresh(): Promise<boolean> {
    const row = await endpointStore(this.#deps.db.read).find(this.#endpointId)
    if (row?.isActive !== 1) return false
    this.#open(row)
    return true
  }

  /** Renews the lease of every delivery that is still held. */
  async renew(): Promise<void> {
    const { db } = this.#deps
    const ids = [...this.#held.keys()]
    if (ids.length === 0) return
    await db.statement((handle) => leasedRows(handle, db.dialect, DELIVERIES).renew({ ids }, this.lease))
  }

  /** Releases every delivery still held, in one transaction with `andThen`. A probe without a result may be repeated at once. */
  async release(andThen: (tx: Tx) => Promise<void> = async () => {}): Promise<void> {
    const ids = [...this.#held.keys()]
    this.recorded(ids)
    this.#waiting = []
    if (ids.length === 0) return
    const { db, clock } = this.#deps
    const probe = this.#probe
    await db.transaction(async (tx) => {
      await leasedRows(tx, db.dialect, DELIVERIES).release({ ids }, this.lease)
      if (probe !== undefined && ids.includes(probe.id)) {
        await endpointStore(tx).endProbe(this.#endpointId, probe.untilMs, clock.now())
      }
      await andThen(tx)
    })
  }
}
