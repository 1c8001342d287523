import type { Selectable } from 'kysely'

/** An endpoint of the application. Secrets and header values are sealed with context `endpoint:<id>`. */
interface WebhookEndpointTable {
  id: string
  url: string
  /** Sealed JSON of `SigningSecret[]`, the current one first. Null means unsigned. */
  secrets: string | null
  /** JSON list of types, prefixes and `*`; `[]` means all. */
  eventTypes: string
  /** Sealed JSON object of custom headers; null without. */
  headers: string | null
  isActive: number
  retryCount: number
  retryDelayMs: number
  retryStrategy: 'fixed' | 'exponential'
  timeoutMs: number
  /** When a delivery last succeeded. */
  lastDeliveryAt: number | null
  /** See `circuit.ts`. */
  circuitState: 'closed' | 'open' | 'half_open'
  /** Consecutive failures. */
  circuitFailures: number
  /** Failed probes since the circuit opened; they determine the next pause. */
  circuitPauses: number
  circuitOpenedAt: number | null
  /** When one delivery may probe. Null while closed. */
  circuitProbeAt: number | null
  createdAt: number
  updatedAt: number
}

/**
 * One event for one endpoint. The request body is a pure function of this row and the event row. The attempt rows hold the
 * outcome of each attempt.
 */
interface WebhookDeliveryTable {
  id: string
  endpointId: string
  eventId: string
  eventType: string
  accountId: string | null
  status: 'pending' | 'retrying' | 'success' | 'failed' | 'deduplicated' | 'cancelled'
  /** The cause of the last attempt. */
  trigger: 'event' | 'retry' | 'recover' | 'test' | 'test-message'
  /** 1: the body contains `test: true`. */
  test: number
  /** Number of attempts made. */
  attempt: number
  maxAttempts: number
  /** When the next attempt is due. Null when there will be none. */
  nextAttemptAt: number | null
  /** When the worker's lease expires. Null when unclaimed. `lease` identifies the worker and fences its writes. */
  leasedUntil: number | null
  lease: string | null
  /** URL of the last attempt, or of the first one to come. */
  url: string
  createdAt: number
}

/** The number of deliveries: one row, updated in the transaction that inserts or deletes deliveries. */
interface WebhookDeliveryCountTable {
  id: number
  total: number
}

/** One attempt. Primary key (deliveryId, attempt). */
interface WebhookAttemptTable {
  deliveryId: string
  attempt: number
  startedAt: number
  durationMs: number
  responseStatus: number | null
  /** Cleaned text, at most 16 KB; null when there was none. */
  responseBody: string | null
  errorKind: string | null
  errorMessage: string | null
  /** Signatures sent: 0 unsigned, 2 during a rotation. */
  signatures: number
  /** JSON list of the names of the custom headers sent; null without. */
  headerNames: string | null
}

export type DeliveryRow = Selectable<WebhookDeliveryTable>
export type AttemptRow = Selectable<WebhookAttemptTable>

declare module '../../platform/db/db.ts' {
  interface Tables {
    webhookEndpoints: WebhookEndpointTable
    webhookDeliveries: WebhookDeliveryTable
    webhookDeliveryCount: WebhookDeliveryCountTable
    webhookAttempts: WebhookAttemptTable
  }
}
