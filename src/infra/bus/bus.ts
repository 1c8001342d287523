/**
 * Hints between parts and replicas: "look again". At most once, in no order, perhaps to nobody; every listener also
 * looks by itself from time to time. Payloads stay under 4 KB (the limit of NOTIFY is 8,000 bytes) and hold no secret.
 */
export interface Bus {
  readonly provider: 'memory' | 'postgres' | 'redis'
  /** Never throws and never waits: a hint that cannot be sent is dropped and logged. Reaches this process too. */
  publish(topic: string, payload?: string): void
  /** `listener` runs for every hint of the topic, and once with undefined after the connection came back. Answers how to stop. */
  subscribe(topic: string, listener: (payload: string | undefined) => void): () => void
  ping(): Promise<void>
  close(): Promise<void>
}
