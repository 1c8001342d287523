/** An application's address that hears of events. Secrets and header values are sealed with context `endpoint:<id>`. */
interface WebhookEndpointTable {
  id: string
  url: string
  /** Sealed JSON of `SigningSecret[]`, the current one first; null is unsigned. */
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
  /** Failed in a row. */
  circuitFailures: number
  /** Probes that failed since it opened: how long the next pause is. */
  circuitPauses: number
  circuitOpenedAt: number | null
  /** Not closed: when one delivery may try. */
  circuitProbeAt: number | null
  createdAt: number
  updatedAt: number
}

/**
 * One event for one endpoint. The body sent is a pure function of this row and the event row. What came of each try
 * stands in its attempts; nothing of it is repeated here.
 */
interface WebhookDeliveryTable {
  id: string
  endpointId: string
  eventId: string
  eventType: string
  accountId: string | null
  status: 'pending' | 'retrying' | 'success' | 'failed' | 'deduplicated' | 'cancelled'
  /** What last set it off. */
  trigger: 'event' | 'retry' | 'recover' | 'test' | 'test-message'
  /** 1: the body says `test: true`. */
  test: number
  /** Attempts made. */
  attempt: number
  maxAttempts: number
  /** Due at; null when it will not be tried again. */
  nextAttemptAt: number | null
  /** A worker has it until then; null when free. `lease` names the worker and fences what it writes. */
  leasedUntil: number | null
  lease: string | null
  /** Where the last attempt went, or the first will go. */
  url: string
  createdAt: number
}

/** How many deliveries there are: one row, changed in the transaction that adds or removes some. */
interface WebhookDeliveryCountTable {
  id: number
  total: number
}

/** One try. Primary key (deliveryId, attempt). */
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

declare module '../../infra/db/db.ts' {
  interface Tables {
    webhookEndpoints: WebhookEndpointTable
    webhookDeliveries: WebhookDeliveryTable
    webhookDeliveryCount: WebhookDeliveryCountTable
    webhookAttempts: WebhookAttemptTable
  }
}
