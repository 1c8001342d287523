/** The state and the first response of each Idempotency-Key, until it expires. */
interface IdempotencyTable {
  /** Hash of the key owner, method, path and header value. */
  id: string
  /** Hash of query and body. The same key with another body is rejected. */
  bodyHash: string
  state: 'running' | 'done'
  /** When a running request's lease ends. After that, another request may take over. */
  leaseUntil: number
  /** Identifies the request that holds the lease. */
  token: string
  status: number | null
  /** The sealed response, at most 64 KB. Null when it was larger. */
  answer: string | null
  expiresAt: number
}

declare module '../../platform/db/db.ts' {
  interface Tables {
    idempotencyKeys: IdempotencyTable
  }
}
