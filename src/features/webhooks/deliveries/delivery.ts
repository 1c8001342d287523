import type { Selectable } from 'kysely'
import type { EventRow } from '../../../events/index.ts'
import type { Tables } from '../../../infra/db/index.ts'
import type { Ids } from '../../../lib/ids.ts'
import type { EndpointRow } from '../endpoints/endpoint.ts'

export type DeliveryRow = Selectable<Tables['webhookDeliveries']>
export type AttemptRow = Selectable<Tables['webhookAttempts']>

export type DeliveryStatus = DeliveryRow['status']

/** Identifies the worker that holds a delivery, and for how long. A worker that does not renew in time loses it. */
export interface Lease {
  token: string
  forMs: number
}

/** A pending delivery, due now. */
export function newDelivery(
  ids: Ids,
  event: Pick<EventRow, 'id' | 'type' | 'accountId'>,
  endpoint: Pick<EndpointRow, 'id' | 'url' | 'retryCount'>,
  nowMs: number,
  trigger: DeliveryRow['trigger'] = 'event',
): DeliveryRow {
  const test = trigger === 'test' || trigger === 'test-message'
  return {
    id: ids('dlv'),
    endpointId: endpoint.id,
    eventId: event.id,
    eventType: event.type,
    accountId: event.accountId,
    status: 'pending',
    trigger,
    test: test ? 1 : 0,
    attempt: 0,
    maxAttempts: test ? 1 : 1 + endpoint.retryCount,
    nextAttemptAt: nowMs,
    leasedUntil: null,
    lease: null,
    url: endpoint.url,
    createdAt: nowMs,
  }
}
