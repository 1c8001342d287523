import { type EventRow, findEvents } from '../../../events/index.ts'
import type { Dialect, Tx } from '../../../infra/db/index.ts'
import type { Queue } from '../../../infra/queue/index.ts'
import { AppError } from '../../../lib/errors.ts'
import { accountsBeingErased } from '../../accounts/index.ts'
import type { EndpointRow } from '../endpoints/endpoint.ts'
import { endpointStore } from '../endpoints/store.ts'
import { isFree, untilOf } from '../sending/claims-store.ts'
import type { DeliveryRow, Lease } from './delivery.ts'
import { DELIVER_QUEUE } from './fan-out.ts'
import { deliveryStore } from './store.ts'

/**
 * Sets a delivery off again, whatever came of it: the same event, the same ids, the endpoint's present settings, as many
 * attempts as a new one has. One that waits is due now; one on its way is left alone. Throws not_found, conflict.
 */
export async function retryDelivery(
  tx: Tx,
  deps: { dialect: Dialect; queue: Queue },
  deliveryId: string,
  nowMs: number,
): Promise<void> {
  const { delivery, endpoint } = await retryable(tx, deps.dialect, deliveryId)
  const waits = delivery.nextAttemptAt !== null
  await tx
    .updateTable('webhookDeliveries')
    .set({
      nextAttemptAt: nowMs,
      ...(!waits && {
        status: 'pending',
        trigger: 'retry',
        maxAttempts: delivery.attempt + 1 + endpoint.retryCount,
        url: endpoint.url,
      }),
    })
    .where('id', '=', deliveryId)
    .execute()
  // Whoever asks for this one expects the receiver to be back: the circuit's pause is over.
  if (endpoint.circuitState === 'open') await endpointStore(tx).update(endpoint.id, { circuitProbeAt: nowMs })
  await deps.queue.addIn(tx, DELIVER_QUEUE, [endpoint.id])
}

/** The delivery, locked, with what it needs to be sent again. Throws not_found, conflict. */
export async function retryable(
  tx: Tx,
  dialect: Dialect,
  deliveryId: string,
): Promise<{ delivery: DeliveryRow; endpoint: EndpointRow; event: EventRow }> {
  const delivery = await deliveryStore(tx).lock(deliveryId, dialect)
  const endpoint = await endpointStore(tx).find(delivery.endpointId)
  if (endpoint === undefined) throw new AppError('conflict', { message: 'Its endpoint was deleted.' })
  const event = (await findEvents(tx, [delivery.eventId])).get(delivery.eventId)
  const { accountId, eventType } = delivery
  const ended = accountId !== null && eventType !== 'account.deleted' ? [accountId] : []
  if (event === undefined || (await accountsBeingErased(tx, ended)).size > 0) {
    throw new AppError('conflict', { message: 'Its event was erased.' })
  }
  return { delivery, endpoint, event }
}

/** Takes a delivery for one attempt outside the queue; undefined while a worker has it. */
export function holdForRetry(
  tx: Tx,
  dialect: Dialect,
  delivery: DeliveryRow,
  lease: Lease,
  nowMs: number,
): Promise<DeliveryRow | undefined> {
  const waits = delivery.nextAttemptAt !== null
  return tx
    .updateTable('webhookDeliveries')
    .set({
      trigger: 'retry',
      lease: lease.token,
      leasedUntil: untilOf(dialect, lease),
      // Due, so that it is sent by others should this process die.
      ...(!waits && { status: 'pending', nextAttemptAt: nowMs, maxAttempts: delivery.attempt + 1 }),
    })
    .where('id', '=', delivery.id)
    .where(isFree(dialect))
    .returningAll()
    .executeTakeFirst()
}
