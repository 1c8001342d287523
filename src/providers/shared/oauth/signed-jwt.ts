import { constants, createPrivateKey, type KeyObject, sign } from 'node:crypto'

interface JwtHeader extends Record<string, string> {
  /** PS256: RSA with PSS padding, which Entra recommends. RS256: with PKCS #1 padding, which Google requires. */
  alg: 'RS256' | 'PS256'
}

/** A JWT (RFC 7519) signed with an RSA key. */
export function signedJwt(header: JwtHeader, claims: Record<string, string | number>, key: KeyObject): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = `${part({ typ: 'JWT', ...header })}.${part(claims)}`
  const padding = header.alg === 'PS256' ? constants.RSA_PKCS1_PSS_PADDING : constants.RSA_PKCS1_PADDING
  const saltLength = constants.RSA_PSS_SALTLEN_DIGEST
  return `${signed}.${sign('sha256', Buffer.from(signed), { key, padding, saltLength }).toString('base64url')}`
}

/** The RSA key in this PEM text. Undefined when it is none, or has a passphrase. */
export function parseRsaKey(pem: string): KeyObject | undefined {
  try {
    const key = createPrivateKey(pem)
    return key.asymmetricKeyType === 'rsa' ? key : undefined
  } catch {
    return undefined
  }
}
