import { type Dialect, databaseTime, type RowLease, type Tx } from '../../../platform/db/index.ts'
import type { EventRow } from '../../index.ts'
import type { TargetRow } from '../endpoints/store.ts'
import type { DeliveryRow } from '../tables.ts'
import type { EndpointCheck } from './leases.ts'

/** A new delivery, stored under the lease of the worker that it is given to. */
export interface GivenDelivery {
  delivery: DeliveryRow
  event: EventRow
}

/** The worker that sends to an endpoint at this moment, in this process. */
export interface RunningWorker {
  readonly endpointId: string
  /**
   * The lease under which it takes so many new deliveries; undefined while it takes none. They come after all that are due, and go by
   * the settings of the endpoint at `updatedAt`: a worker that read older ones takes none.
   */
  leaseFor(count: number, updatedAt: number): RowLease | undefined
  /** Call it after the commit that stored the deliveries. A worker that ended meanwhile releases them. */
  give(deliveries: readonly GivenDelivery[]): void
  /** Call it about every second; undefined: the endpoint was deactivated or deleted. */
  checked(endpoint: EndpointCheck | undefined): void
  /** Ends the run with an error. */
  fail(error: unknown): void
}

/** By endpoint id. The fan-out gives them new deliveries, which spares a claim of each row and a run of the queue. */
export type RunningWorkers = Map<string, RunningWorker>

/**
 * Claims new deliveries, before they are stored, for the workers that take them; the others wait for a claim. Returns all of them in
 * the order given, and `give`, which must be called after the commit.
 */
export async function claimForWorkers(
  tx: Tx,
  dialect: Dialect,
  workers: RunningWorkers,
  endpoints: readonly TargetRow[],
  deliveries: readonly DeliveryRow[],
): Promise<{ deliveries: readonly DeliveryRow[]; give(events: readonly EventRow[]): void }> {
  const takers = findTakers(workers, endpoints, deliveries)
  if (takers.size === 0) return { deliveries, give: () => {} }
  const nowMs = await databaseTime(tx, dialect)
  const claimed = deliveries.map((delivery) => {
    const taker = isDue(delivery) ? takers.get(delivery.endpointId) : undefined
    if (taker === undefined) return delivery
    const own = { ...delivery, lease: taker.lease.token, leasedUntil: nowMs + taker.lease.forMs }
    taker.claimed.push(own)
    return own
  })
  return {
    deliveries: claimed,
    give(events) {
      const byId = new Map(events.map((event) => [event.id, event]))
      for (const taker of takers.values()) {
        const handed = taker.claimed.flatMap((delivery) => {
          const event = byId.get(delivery.eventId)
          return event === undefined ? [] : [{ delivery, event }]
        })
        taker.worker.give(handed)
      }
    },
  }
}

interface Taker {
  worker: RunningWorker
  lease: RowLease
  claimed: DeliveryRow[]
}

/** Returns the workers that take new deliveries now, by endpoint id. */
function findTakers(
  workers: RunningWorkers,
  endpoints: readonly TargetRow[],
  deliveries: readonly DeliveryRow[],
): Map<string, Taker> {
  const takers = new Map<string, Taker>()
  if (workers.size === 0) return takers
  const counts = new Map<string, number>()
  for (const { endpointId } of deliveries.filter(isDue)) counts.set(endpointId, (counts.get(endpointId) ?? 0) + 1)
  for (const { id, circuitState, updatedAt } of endpoints) {
    const count = counts.get(id)
    const worker = circuitState === 'closed' ? workers.get(id) : undefined
    const lease = count === undefined ? undefined : worker?.leaseFor(count, updatedAt)
    if (worker !== undefined && lease !== undefined) takers.set(id, { worker, lease, claimed: [] })
  }
  return takers
}

/** Not a duplicate. */
const isDue = ({ nextAttemptAt }: DeliveryRow) => nextAttemptAt !== null
