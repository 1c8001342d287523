import { type EventRow, eventHead } from '../../index.ts'
import type { OpenEndpoint } from '../endpoints/endpoint.ts'
import { validSecrets } from '../endpoints/signing-secrets.ts'
import type { DeliveryRow } from '../tables.ts'
import type { AttemptInput } from './attempt.ts'

/** Builds the input for the next attempt of this delivery. */
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

/**
 * The request body: a pure function of the two rows, so every attempt sends the same bytes. The stored `data` is JSON
 * already (up to 256 KB) and is inserted unchanged.
 */
export function deliveryBody(delivery: { id: string; test: number }, event: EventRow): string {
  const head = JSON.stringify({ deliveryId: delivery.id, test: delivery.test === 1, ...eventHead(event) })
  return `${head.slice(0, -1)},"data":${event.data}}`
}
