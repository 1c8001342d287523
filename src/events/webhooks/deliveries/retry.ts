import { type Dialect, isUnleased, leaseEnd, type RowLease, type Tx } from '../../../platform/db/index.ts'
import { AppError } from '../../../platform/errors/app-error.ts'
import type { Queue } from '../../../platform/queue/index.ts'
import { type EventRow, findEvents } from '../../index.ts'
import type { EndpointRow } from '../endpoints/endpoint.ts'
import { endpointStore } from '../endpoints/store.ts'
import { DELIVER_QUEUE } from '../sending/endpoint-worker.ts'
import type { DeliveryRow } from '../tables.ts'
import { sendable } from './erasure.ts'
import { deliveryStore } from './store.ts'

/**
 * Queues a delivery again, whatever its status: the same event and ids, the endpoint's current settings, and as many
 * attempts as a new delivery has. A waiting delivery becomes due now; one in flight is not changed. Throws not_found, conflict.
 */
export async function retryDelivery(
  tx: Tx,
  deps: { dialect: Dialect; queue: Queue },
  deliveryId: string,
  nowMs: number,
): Promise<void> {
  const { delivery, endpoint } = await retryable(tx, deps.dialect, deliveryId)
  const isWaiting = delivery.nextAttemptAt !== null
  await tx
    .updateTable('webhookDeliveries')
    .set({
      nextAttemptAt: nowMs,
      ...(!isWaiting && {
        status: 'pending',
        trigger: 'retry',
        maxAttempts: delivery.attempt + 1 + endpoint.retryCount,
        url: endpoint.url,
      }),
    })
    .where('id', '=', deliveryId)
    .execute()
  // The caller expects the receiver to work again, so the circuit's pause ends.
  if (endpoint.circuitState === 'open') await endpointStore(tx).update(endpoint.id, { circuitProbeAt: nowMs })
  await deps.queue.addIn(tx, DELIVER_QUEUE, [endpoint.id])
}

/** The locked delivery with its endpoint and event. Throws not_found, conflict. */
export async function retryable(
  tx: Tx,
  dialect: Dialect,
  deliveryId: string,
): Promise<{ delivery: DeliveryRow; endpoint: EndpointRow; event: EventRow }> {
  const delivery = await deliveryStore(tx).lock(deliveryId, dialect)
  const endpoint = await endpointStore(tx).find(delivery.endpointId)
  if (endpoint === undefined)
    throw new AppError('conflict', { message: 'The webhook endpoint of this delivery was deleted.' })
  const event = (await findEvents(tx, [delivery.eventId])).get(delivery.eventId)
  if (event === undefined || (await sendable(tx, [event])).length === 0) {
    throw new AppError('conflict', { message: 'The event of this delivery was erased.' })
  }
  return { delivery, endpoint, event }
}

/** Claims a delivery for one attempt outside the queue. Undefined while a worker holds it. */
export function holdForRetry(
  tx: Tx,
  dialect: Dialect,
  delivery: DeliveryRow,
  lease: RowLease,
  nowMs: number,
): Promise<DeliveryRow | undefined> {
  const isWaiting = delivery.nextAttemptAt !== null
  return tx
    .updateTable('webhookDeliveries')
    .set({
      trigger: 'retry',
      lease: lease.token,
      leasedUntil: leaseEnd(dialect, lease),
      // Due, so that a worker sends it if this process dies.
      ...(!isWaiting && { status: 'pending', nextAttemptAt: nowMs, maxAttempts: delivery.attempt + 1 }),
    })
    .where('id', '=', delivery.id)
    .where(isUnleased(dialect))
    .returningAll()
    .executeTakeFirst()
}
