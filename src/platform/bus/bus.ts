/**
 * Hints between features and replicas that something changed. A hint arrives at most once, in no order, and may be lost, so every
 * listener also polls from time to time. Payloads stay under 4 KB (NOTIFY allows 8,000 bytes) and contain no secrets.
 */
export interface Bus {
  readonly provider: 'memory' | 'postgres' | 'redis'
  /** Never throws and never blocks: a hint that cannot be sent is dropped and logged. This process receives it too. */
  publish(topic: string, payload?: string): void
  /** Calls `listener` for every hint of the topic, and once with undefined after a reconnect. Returns a function that unsubscribes. */
  subscribe(topic: string, listener: (payload: string | undefined) => void): () => void
  /** A hint of the topic does not have its form: counted, and logged once a minute. */
  reportInvalid?(topic: string): void
  ping(): Promise<void>
  close(): Promise<void>
}
