import { createPublicKey, type KeyLike, type KeyObject, sign, verify } from 'node:crypto'

/** The contents of a licence key. */
export interface LicenceClaims {
  plan: string
  /** How many accounts may exist. Null means no limit. */
  accountLimit: number | null
  /** Milliseconds since 1970. Null means never. */
  expiresAt: number | null
}

/** Thrown for an invalid key. The message completes a sentence and never contains the key. */
export class LicenceKeyError extends Error {
  override name = 'LicenceKeyError'
}

/** Public key of the issuer: Ed25519, SPKI, base64. */
const ISSUER_KEY = 'MCowBQYDK2VwAyEAC7MLBrZXSncWA/Dn2CayExkd3HVIjl6gEOWqzXQbNhI='

export function issuerKey(): KeyObject {
  return createPublicKey({ key: Buffer.from(ISSUER_KEY, 'base64'), format: 'der', type: 'spki' })
}

/** As LICENSE_PUBLIC_KEY. */
export function publicKeyText(publicKey: KeyObject): string {
  return publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
}

/** Parses `<claims>.<signature>`, both base64url. The signature covers the encoded claims. Throws `LicenceKeyError`. */
export function readLicenceKey(token: string, issuer: KeyLike): LicenceClaims {
  const [claims = '', signature = '', ...rest] = token.trim().split('.')
  if (claims === '' || signature === '' || rest.length > 0) throw new LicenceKeyError('it is not a licence key')
  if (!verify(null, Buffer.from(claims), issuer, Buffer.from(signature, 'base64url'))) {
    throw new LicenceKeyError('its signature is invalid')
  }
  return parseClaims(Buffer.from(claims, 'base64url').toString('utf8'))
}

/** Creates a licence key. */
export function signLicenceKey(
  claims: { plan: string; accountLimit?: number; expiresAt?: string },
  privateKey: KeyLike,
): string {
  const text = Buffer.from(JSON.stringify(claims)).toString('base64url')
  return `${text}.${sign(null, Buffer.from(text), privateKey).toString('base64url')}`
}

function parseClaims(text: string): LicenceClaims {
  const claims: unknown = JSON.parse(text)
  if (typeof claims !== 'object' || claims === null) throw new LicenceKeyError('it contains no claims')
  const { plan, accountLimit = null, expiresAt = null } = claims as Record<string, unknown>
  if (typeof plan !== 'string' || plan === '') throw new LicenceKeyError('it does not name a plan')
  if (accountLimit !== null && (!Number.isSafeInteger(accountLimit) || Number(accountLimit) < 0)) {
    throw new LicenceKeyError('its accountLimit is not a whole number')
  }
  const endsAt = expiresAt === null ? null : Date.parse(String(expiresAt))
  if (Number.isNaN(endsAt)) throw new LicenceKeyError('its expiresAt is not a date')
  return { plan, accountLimit: accountLimit === null ? null : Number(accountLimit), expiresAt: endsAt }
}
