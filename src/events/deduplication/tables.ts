/** One row: the settings of all replicas. */
interface DeduplicationConfigTable {
  id: number
  enabled: number
  /** JSON list of key fields. */
  keyFields: string
  ttlSeconds: number
}

/** A key held until `expiresAt`, measured by the times of the events. */
interface DeduplicationClaimTable {
  /** Hash of the key space and the key fields, after the time in the id of the object if that is a key field. */
  key: string
  /** The holder: an event, or a call of the test endpoint. */
  eventId: string
  expiresAt: number
}

declare module '../../platform/db/db.ts' {
  interface Tables {
    deduplicationConfig: DeduplicationConfigTable
    deduplicationClaims: DeduplicationClaimTable
  }
}
