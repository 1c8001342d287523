/** An event that claims a key from its own time on. When the call is made does not matter. */
export interface Claim {
  key: string
  eventId: string
  atMs: number
}

/**
 * The holders of keys. Contract (see `conformance/claims.ts`):
 * - All claims of a call are decided in one atomic step, in their order.
 * - A key is granted when it has no holder, when the same event holds it, or when its holder expired before `atMs`. The event
 *   then holds it until `atMs + ttlMs`.
 * - Repeating the claims after a crash, before any result was used, returns the same holders.
 */
export interface Claims {
  /** Returns the event that holds each key: the claiming event when the key was granted. */
  claim(claims: readonly Claim[], ttlMs: number): Promise<string[]>
}
