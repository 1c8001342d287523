/** An event that wants a key, since its own time: how late it is asked about does not matter. */
export interface Claim {
  key: string
  eventId: string
  atMs: number
}

/**
 * Who holds which key. Contract (see `conformance.ts`):
 * - One step for all claims of a call, in their order, whoever else asks meanwhile.
 * - A key is granted when nobody holds it, when this event holds it already, or when its holder's time was over before
 *   `atMs`; it is then held until `atMs + ttlMs`.
 * - Asked again after a crash, before any of it was acted upon, the same claims get the same answers.
 */
export interface Claims {
  /** Which event holds each key now: the claiming one where it was granted. */
  claim(claims: readonly Claim[], ttlMs: number): Promise<string[]>
}
