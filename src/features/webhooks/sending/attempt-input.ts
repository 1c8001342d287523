import type { EventRow } from '../../../events/index.ts'
import type { DeliveryRow } from '../deliveries/delivery.ts'
import { type OpenEndpoint, validSecrets } from '../endpoints/endpoint.ts'
import type { AttemptInput } from './attempt.ts'
import { deliveryBody } from './payload.ts'

/** Everything the next attempt of this delivery sends. */
export function attemptInput(
  delivery: DeliveryRow,
  event: EventRow,
  endpoint: OpenEndpoint,
  nowMs: number,
): AttemptInput {
  return {
    eventId: event.id,
    endpointId: endpoint.row.id,
    url: endpoint.row.url,
    body: deliveryBody(delivery, event),
    secrets: validSecrets(endpoint.secrets, nowMs),
    headers: endpoint.headers,
    timeoutMs: endpoint.row.timeoutMs,
  }
}
