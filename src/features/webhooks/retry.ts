import { findEvents } from '../../events/index.ts'
import type { Dialect, Tx } from '../../infra/db/index.ts'
import type { Queue } from '../../infra/queue/index.ts'
import { AppError } from '../../lib/errors.ts'
import { deliveryStore } from './delivery-store.ts'
import { endpointStore } from './endpoint-store.ts'
import { DELIVER_LANE } from './fan-out.ts'

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
  const delivery = await deliveryStore(tx).lock(deliveryId, deps.dialect)
  const endpoint = await endpointStore(tx).find(delivery.endpointId)
  if (endpoint === undefined) throw new AppError('conflict', { message: 'Its endpoint was deleted.' })
  const events = await findEvents(tx, [delivery.eventId])
  if (events.size === 0) throw new AppError('conflict', { message: 'Its event was erased.' })
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
  await deps.queue.addIn(tx, DELIVER_LANE, [endpoint.id])
}
