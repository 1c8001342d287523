/** The signing secrets of an endpoint, and how long a replaced one still signs. `platform/crypto/signature.ts` makes the signatures. */

/** A signing secret. `until` (milliseconds) is when a replaced secret stops signing; null for the current one. */
export interface SigningSecret {
  secret: string
  until: number | null
}

/** A replaced secret keeps signing beside the new one for this long. */
const ROTATION_OVERLAP_MS = 24 * 60 * 60_000

/** Bounds the signatures per request when secrets are rotated several times within a day. */
const MAX_SECRETS = 5

/** The secrets that sign at `nowMs`, the current one first. */
export function validSecrets(secrets: readonly SigningSecret[], nowMs: number): string[] {
  return secrets.filter(({ until }) => until === null || until > nowMs).map(({ secret }) => secret)
}

/** The secrets after a rotation to `secret`. Null makes the endpoint unsigned immediately. */
export function rotateSecrets(
  secrets: readonly SigningSecret[],
  secret: string | null,
  nowMs: number,
): SigningSecret[] {
  if (secret === null) return []
  const overlapping = secrets
    .map((entry) => ({ secret: entry.secret, until: entry.until ?? nowMs + ROTATION_OVERLAP_MS }))
    .filter((entry) => entry.secret !== secret && entry.until > nowMs)
  return [{ secret, until: null }, ...overlapping].slice(0, MAX_SECRETS)
}
