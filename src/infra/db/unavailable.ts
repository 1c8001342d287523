/**
 * The database takes no work now: it is out of reach, shuts down, or its disk is full. Never for what a statement itself did
 * wrong. A transaction that ends with this was rolled back, unless the connection broke during its commit: then nobody knows.
 */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable'
  /** As the engine or the network put it; for the log and the operator. */
  readonly reason: string
  constructor(cause: unknown) {
    const reason = reasonOf(cause)
    super(`The database is not available: ${reason}`, { cause })
    this.reason = reason
  }
}

/** A host with several addresses fails with an error that says nothing but its code. */
function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  return cause.message !== '' || !('code' in cause) ? cause.message : String(cause.code)
}
