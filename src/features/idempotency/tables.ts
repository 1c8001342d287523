/** First answers to POSTs that carried an Idempotency-Key; kept 24 h. Primary key (owner, method, path, key). */
interface IdempotencyTable {
  /** Hash of key owner, method, path and the header's value. */
  id: string
  /** Hash of the request body: another body under the same key is refused. */
  bodyHash: string
  state: 'running' | 'done'
  /** A running mark is a lease; after it another request may take over. */
  leaseUntil: number
  /** Names who holds the lease. */
  token: string
  status: number | null
  /** The answer, sealed; at most 64 KB. Null when it was larger. */
  answer: string | null
  expiresAt: number
}

declare module '../../infra/db/db.ts' {
  interface Tables {
    idempotencyKeys: IdempotencyTable
  }
}
