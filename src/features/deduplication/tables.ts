/** One row: the settings that all replicas share. */
interface DeduplicationConfigTable {
  id: number
  enabled: number
  /** JSON list of key fields. */
  keyFields: string
  ttlSeconds: number
}

/** A key that somebody holds until `expiresAt`, in the time of the events. */
interface DeduplicationClaimTable {
  /** Hash of the key space and the key fields. */
  key: string
  /** Who holds it: an event, or a call of the test. */
  eventId: string
  expiresAt: number
}

declare module '../../infra/db/db.ts' {
  interface Tables {
    deduplicationConfig: DeduplicationConfigTable
    deduplicationClaims: DeduplicationClaimTable
  }
}
