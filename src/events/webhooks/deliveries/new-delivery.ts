import type { Ids } from '../../../platform/ids.ts'
import type { EventRow } from '../../index.ts'
import type { EndpointRow } from '../endpoints/endpoint.ts'
import type { TargetRow } from '../endpoints/store.ts'
import { subscribes } from '../endpoints/subscriptions.ts'
import type { DeliveryRow } from '../tables.ts'

/** Calls `make` for each event and each endpoint that subscribes to it, and returns the results. Leaves out events that are not fanned out. */
export function matched<T>(
  events: readonly EventRow[],
  endpoints: readonly TargetRow[],
  make: (event: EventRow, endpoint: TargetRow) => T,
): T[] {
  const subscriptions = endpoints.map((endpoint) => ({ endpoint, types: JSON.parse(endpoint.eventTypes) as string[] }))
  const cached = new Map<string, TargetRow[]>()
  const interested = (type: string) => {
    const found = subscriptions.filter(({ types }) => subscribes(types, type)).map(({ endpoint }) => endpoint)
    cached.set(type, found)
    return found
  }
  return events
    .filter((event) => event.fanOut === 1)
    .flatMap((event) => (cached.get(event.type) ?? interested(event.type)).map((endpoint) => make(event, endpoint)))
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
