import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto'

/**
 * Standard Webhooks v1 (https://www.standardwebhooks.com): HMAC-SHA256 over `id.timestamp.body`. The caller passes the secrets: for
 * deliveries `validSecrets` in `events/webhooks/endpoints/signing-secrets.ts`, for callbacks of experiences `booking/callbacks/request.ts`.
 */
interface SignatureInput {
  id: string
  /** Seconds since 1970. */
  timestamp: number
  body: string
  /** Every valid secret. Each adds one signature, so that old and new secrets overlap during a rotation. */
  secrets: readonly string[]
}

const SECRET_PREFIX = 'whsec_'

/** After `whsec_` the key is base64; any other text is used as UTF-8. */
export function signingKey(secret: string): Buffer {
  return secret.startsWith(SECRET_PREFIX)
    ? Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
    : Buffer.from(secret, 'utf8')
}

export function generateSigningSecret(): string {
  return SECRET_PREFIX + randomBytes(24).toString('base64')
}

/** The three headers of a delivery, without `webhook-signature` when there is no secret. */
export function webhookHeaders(input: SignatureInput): Record<string, string> {
  const headers: Record<string, string> = { 'webhook-id': input.id, 'webhook-timestamp': String(input.timestamp) }
  if (input.secrets.length > 0) {
    const content = `${input.id}.${input.timestamp}.${input.body}`
    headers['webhook-signature'] = input.secrets
      .map((secret) => `v1,${createHmac('sha256', signingKey(secret)).update(content).digest('base64')}`)
      .join(' ')
  }
  return headers
}

/** Constant-time comparison of two texts of any length. */
export function sameText(left: string, right: string): boolean {
  return textMatcher(left)(right)
}

/** The same for many texts, each compared with `expected`. */
export function textMatcher(expected: string): (text: string) => boolean {
  const digest = (text: string) => hash('sha256', text, 'buffer')
  const wanted = digest(expected)
  return (text) => timingSafeEqual(digest(text), wanted)
}
