import { randomUUID } from 'node:crypto'
import { type EventRow, findEvents } from '../../events/index.ts'
import type { Db, Tx } from '../../infra/db/index.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Sealer } from '../../lib/seal.ts'
import type { DeliveryRow } from './delivery.ts'
import { cancelForEndpoint, cancelHeld, claimDue, releaseLease, renewLease } from './delivery-state.ts'
import { type EndpointRow, type OpenEndpoint, openEndpoint } from './endpoint.ts'
import { endpointStore } from './endpoint-store.ts'

/** One delivery ready to be sent, with the endpoint as it was when the delivery was claimed. */
export interface Claimed {
  delivery: DeliveryRow
  event: EventRow
  endpoint: OpenEndpoint
}

/** Deliveries claimed at once; with the largest events this bounds memory to 16 MB per endpoint. */
const CLAIM_ROWS = 64
const LEASE_MS = 60_000
const RENEW_MS = 15_000

/** The due deliveries of one endpoint, claimed in batches and held by a lease that is renewed until they are settled. */
export class Claims {
  readonly token = randomUUID()
  readonly #deps: { db: Db; clock: Clock; sealer: Sealer }
  readonly #endpointId: string
  readonly #held = new Set<string>()
  #waiting: Claimed[] = []
  #endpoint: OpenEndpoint | undefined
  #renewedAt: number

  constructor(deps: { db: Db; clock: Clock; sealer: Sealer }, endpointId: string) {
    this.#deps = deps
    this.#endpointId = endpointId
    this.#renewedAt = deps.clock.monotonic()
  }

  take(): Claimed | undefined {
    return this.#waiting.shift()
  }

  /** Claims the next batch. Answers whether there may be more behind it. */
  async claim(): Promise<boolean> {
    const { db } = this.#deps
    const { row, deliveries } = await db.transaction((tx) => this.#claimIn(tx))
    if (row === undefined || deliveries.length === 0) return false
    for (const { id } of deliveries) this.#held.add(id)
    const endpoint = this.#opened(row)
    const events = await findEvents(db.read, [...new Set(deliveries.map((delivery) => delivery.eventId))])
    const orphans: string[] = []
    for (const delivery of deliveries) {
      const event = events.get(delivery.eventId)
      if (event === undefined) orphans.push(delivery.id)
      else this.#waiting.push({ delivery, event, endpoint })
    }
    // An event vanishes only with its account or by age; what it was to say must not be said any more.
    if (orphans.length > 0) await db.transaction((tx) => cancelHeld(tx, orphans, this.token))
    this.settled(orphans)
    return deliveries.length === CLAIM_ROWS
  }

  async #claimIn(tx: Tx): Promise<{ row: EndpointRow | undefined; deliveries: DeliveryRow[] }> {
    const row = await endpointStore(tx).find(this.#endpointId)
    if (row === undefined) await cancelForEndpoint(tx, this.#endpointId)
    if (row?.isActive !== 1) return { row, deliveries: [] }
    const nowMs = this.#deps.clock.now()
    const lease = { token: this.token, untilMs: nowMs + LEASE_MS }
    return { row, deliveries: await claimDue(tx, this.#deps.db.dialect, row.id, lease, nowMs, CLAIM_ROWS) }
  }

  /** Opening what is sealed costs more than a claim; it is done again only when it changed. */
  #opened(row: EndpointRow): OpenEndpoint {
    const known = this.#endpoint
    this.#endpoint =
      known !== undefined && known.row.secrets === row.secrets && known.row.headers === row.headers
        ? { ...known, row }
        : openEndpoint(row, this.#deps.sealer)
    return this.#endpoint
  }

  settled(ids: readonly string[]): void {
    for (const id of ids) this.#held.delete(id)
  }

  /** Call it every second or so: it renews when the lease has run for a while. */
  async renew(): Promise<void> {
    const { db, clock } = this.#deps
    if (this.#held.size === 0 || clock.monotonic() - this.#renewedAt < RENEW_MS) return
    this.#renewedAt = clock.monotonic()
    const lease = { token: this.token, untilMs: clock.now() + LEASE_MS }
    await db.transaction((tx) => renewLease(tx, [...this.#held], lease))
  }

  /** Gives back everything that is still held. */
  async release(): Promise<void> {
    const ids = [...this.#held]
    this.#held.clear()
    this.#waiting = []
    if (ids.length > 0) await this.#deps.db.transaction((tx) => releaseLease(tx, ids, this.token))
  }
}
