import { createHash } from 'node:crypto'

/**
 * The user of an ID token, if the token belongs to this client and this access token (`at_hash`, OpenID Connect Core 3.1.3.8).
 * It came with the access token from the token endpoint over TLS, so its signature adds nothing and is not checked.
 */
export function readSubject(idToken: unknown, clientId: string, accessToken: string): string | undefined {
  if (typeof idToken !== 'string') return undefined
  const { sub, aud, at_hash: hash } = parseClaims(idToken)
  const digest = createHash('sha256').update(accessToken).digest()
  const isBound = aud === clientId && hash === digest.subarray(0, digest.length / 2).toString('base64url')
  return isBound && typeof sub === 'string' && sub !== '' ? sub : undefined
}

/** The claims of an ID token, unchecked. Empty when it cannot be read. */
export function readClaims(idToken: unknown): Readonly<Record<string, unknown>> {
  return typeof idToken === 'string' ? parseClaims(idToken) : {}
}

function parseClaims(idToken: string): Readonly<Record<string, unknown>> {
  try {
    const claims: unknown = JSON.parse(Buffer.from(idToken.split('.')[1] ?? '', 'base64url').toString())
    return typeof claims === 'object' && claims !== null ? { ...claims } : {}
  } catch {
    return {}
  }
}
