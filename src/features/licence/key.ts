import { createPublicKey, type KeyLike, type KeyObject, sign, verify } from 'node:crypto'

/** What a licence key says. */
export interface LicenceClaims {
  plan: string
  /** How many accounts may exist; null without a cap. */
  accountLimit: number | null
  /** Milliseconds since 1970; null when it never ends. */
  expiresAt: number | null
}

/** Thrown for a key that is none of ours; the message names what is wrong, never the key. */
export class LicenceKeyError extends Error {
  override name = 'LicenceKeyError'
}

/** The public half of the key that licences are signed with; Ed25519, SPKI in base64. */
const ISSUER_KEY = 'MCowBQYDK2VwAyEAC7MLBrZXSncWA/Dn2CayExkd3HVIjl6gEOWqzXQbNhI='

export function issuerKey(): KeyObject {
  return createPublicKey({ key: Buffer.from(ISSUER_KEY, 'base64'), format: 'der', type: 'spki' })
}

/** `<claims>.<signature>`, both base64url; the signature is over the first part as it stands. */
export function readLicenceKey(token: string, issuer: KeyLike): LicenceClaims {
  const [claims = '', signature = '', ...rest] = token.trim().split('.')
  if (claims === '' || signature === '' || rest.length > 0) throw new LicenceKeyError('it is not a licence key')
  if (!verify(null, Buffer.from(claims), issuer, Buffer.from(signature, 'base64url'))) {
    throw new LicenceKeyError('its signature is not valid')
  }
  return parseClaims(Buffer.from(claims, 'base64url').toString('utf8'))
}

/** Makes a licence key; the counterpart of `readLicenceKey`, for the issuer and for tests. */
export function signLicenceKey(
  claims: { plan: string; accountLimit?: number; expiresAt?: string },
  privateKey: KeyLike,
): string {
  const text = Buffer.from(JSON.stringify(claims)).toString('base64url')
  return `${text}.${sign(null, Buffer.from(text), privateKey).toString('base64url')}`
}

function parseClaims(text: string): LicenceClaims {
  const claims: unknown = JSON.parse(text)
  if (typeof claims !== 'object' || claims === null) throw new LicenceKeyError('it holds no claims')
  const { plan, accountLimit = null, expiresAt = null } = claims as Record<string, unknown>
  if (typeof plan !== 'string' || plan === '') throw new LicenceKeyError('it names no plan')
  if (accountLimit !== null && (!Number.isSafeInteger(accountLimit) || Number(accountLimit) < 0)) {
    throw new LicenceKeyError('its accountLimit is not a number of accounts')
  }
  const endsAt = expiresAt === null ? null : Date.parse(String(expiresAt))
  if (Number.isNaN(endsAt)) throw new LicenceKeyError('its expiresAt is not a time')
  return { plan, accountLimit: accountLimit === null ? null : Number(accountLimit), expiresAt: endsAt }
}
