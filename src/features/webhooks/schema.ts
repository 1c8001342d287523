/** An application's address that hears of events. Secrets and header values are sealed with context `endpoint:<id>`. */
interface WebhookEndpointTable {
  id: string
  url: string
  /** Sealed JSON: `{current, previous?, previousUntil?}`; null is unsigned. */
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
  lastDeliveryAt: number | null
  createdAt: number
  updatedAt: number
}

/** One event for one endpoint. The body sent is a pure function of this row and the event row. */
interface WebhookDeliveryTable {
  id: string
  endpointId: string
  eventId: string
  eventType: string
  accountId: string | null
  status: 'pending' | 'retrying' | 'success' | 'failed' | 'deduplicated' | 'cancelled'
  trigger: 'event' | 'retry' | 'recover' | 'test' | 'test-message'
  attempt: number
  maxAttempts: number
  /** Due at; null when it will not be tried again. */
  nextAttemptAt: number | null
  /** A worker has it until then; null when free. */
  leasedUntil: number | null
  lease: string | null
  url: string
  responseStatus: number | null
  /** At most 16 KB. */
  responseBody: string | null
  errorKind: string | null
  errorMessage: string | null
  durationMs: number | null
  createdAt: number
  lastAttemptAt: number | null
  deliveredAt: number | null
}

interface WebhookAttemptTable {
  id: string
  deliveryId: string
  attempt: number
  startedAt: number
  durationMs: number
  responseStatus: number | null
  responseBody: string | null
  errorKind: string | null
  errorMessage: string | null
}

declare module '../../infra/db/db.ts' {
  interface Tables {
    webhookEndpoints: WebhookEndpointTable
    webhookDeliveries: WebhookDeliveryTable
    webhookAttempts: WebhookAttemptTable
  }
}
