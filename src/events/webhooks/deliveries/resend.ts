import { type Dialect, lockState, type Tx } from '../../../platform/db/index.ts'
import { AppError, notFound } from '../../../platform/errors/app-error.ts'
import type { Ids } from '../../../platform/ids.ts'
import type { Queue } from '../../../platform/queue/index.ts'
import { eventFeed } from '../../index.ts'
import { endpointStore } from '../endpoints/store.ts'
import { DELIVER_QUEUE } from '../sending/endpoint-worker.ts'
import { sendable } from './erasure.ts'
import { newDelivery } from './new-delivery.ts'
import { findDeliveries, RECOVERY_LOCK } from './recovery.ts'
import { retryDelivery } from './retry.ts'
import { insertDeliveries } from './store.ts'

interface ResendDeps {
  dialect: Dialect
  queue: Queue
  ids: Ids
}

/**
 * Sends one event to an endpoint, whatever the endpoint subscribes to: its delivery again if it has one, otherwise a new delivery.
 * Deliveries to an inactive endpoint wait. Returns the id of the delivery. Throws not_found, conflict.
 */
export async function resendEvent(
  tx: Tx,
  { dialect, queue, ids }: ResendDeps,
  { eventId, endpointId }: { eventId: string; endpointId: string },
  nowMs: number,
): Promise<string> {
  // Concurrent resends and recoveries would each create a delivery.
  await lockState(tx, RECOVERY_LOCK)
  const endpoint = await endpointStore(tx).get(endpointId)
  const event = await eventFeed(tx).find(eventId)
  if (event === undefined) throw notFound('event', eventId)
  if ((await sendable(tx, [event])).length === 0) {
    throw new AppError('conflict', { message: 'The account of this event was deleted, so the event is not sent.' })
  }
  const made = (await findDeliveries(tx, endpointId, [event])).get(eventId)
  if (made !== undefined) {
    await retryDelivery(tx, { dialect, queue }, made, nowMs)
    return made
  }
  const delivery = newDelivery(ids, event, endpoint, nowMs, 'recover')
  await insertDeliveries(tx, [delivery])
  await queue.addIn(tx, DELIVER_QUEUE, [endpointId])
  return delivery.id
}
