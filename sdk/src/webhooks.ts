import { WebhookVerificationError } from './errors.ts'
import type { WebhookEnvelope } from './generated/schema.ts'

/** The headers of a request: of a `Request`, or of a request of Node. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>

export interface VerifyOptions {
  /** How far the time of the signature may be from now. Default: 300. */
  toleranceSeconds?: number
  /** Milliseconds since 1970. Default: the clock of this machine. */
  now?: () => number
}

const DEFAULT_TOLERANCE_SECONDS = 300
/** Signatures in one header. The service sends two, at most. */
const MAX_SIGNATURES = 10

/**
 * Verifies a delivery and returns its event, whose `type` tells which `data` it has. Throws a `WebhookVerificationError`
 * unless one of the signatures is valid and recent.
 * @param payload the body as it arrived, before any parser
 * @param secrets the signing secret of the endpoint, or several while you replace one
 */
export async function verify(
  payload: string | Uint8Array | ArrayBuffer,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  options: VerifyOptions = {},
): Promise<WebhookEnvelope> {
  return (await verifyRequest(payload, headers, secrets, options)) as WebhookEnvelope
}

/** As `verify`, for the other requests that the service signs: those to the callbacks of an experience. Returns their JSON. */
export async function verifyRequest(
  payload: string | Uint8Array | ArrayBuffer,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  { toleranceSeconds = DEFAULT_TOLERANCE_SECONDS, now = Date.now }: VerifyOptions = {},
): Promise<unknown> {
  const id = requireHeader(headers, 'webhook-id')
  const timestamp = requireHeader(headers, 'webhook-timestamp')
  const signatures = requireHeader(headers, 'webhook-signature')
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(now() / 1000 - Number(timestamp)) > toleranceSeconds) {
    throw new WebhookVerificationError('The signature of the webhook is too old, or from the future.')
  }
  const body = typeof payload === 'string' ? new TextEncoder().encode(payload) : new Uint8Array(payload)
  const signed = await new Blob([`${id}.${timestamp}.`, body]).arrayBuffer()
  const keys = await Promise.all([secrets].flat().map(importKey))
  for (const signature of decodeSignatures(signatures)) {
    for (const key of keys) {
      // Compares in constant time.
      if (await crypto.subtle.verify('HMAC', key, signature, signed)) return JSON.parse(new TextDecoder().decode(body))
    }
  }
  throw new WebhookVerificationError(
    'No signature of the webhook is valid. Check the secret, and pass the body unchanged.',
  )
}

function requireHeader(headers: WebhookHeaders, name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : readHeader(headers, name)
  if (typeof value !== 'string' || value === '') throw new WebhookVerificationError(`The header ${name} is missing.`)
  return value
}

function readHeader(headers: Exclude<WebhookHeaders, Headers>, name: string): string | undefined {
  const [, value] = Object.entries(headers).find(([key]) => key.toLowerCase() === name) ?? []
  return typeof value === 'string' ? value : value?.[0]
}

/** The signatures of version 1, without those that are no base64. */
function decodeSignatures(header: string): Uint8Array<ArrayBuffer>[] {
  return header
    .split(' ')
    .slice(0, MAX_SIGNATURES)
    .flatMap((part) => (part.startsWith('v1,') ? (decodeBase64(part.slice('v1,'.length)) ?? []) : []))
}

/** A secret with the prefix is base64; any other one is the key itself. */
async function importKey(secret: string) {
  const bytes = secret.startsWith('whsec_')
    ? decodeBase64(secret.slice('whsec_'.length))
    : new TextEncoder().encode(secret)
  if (bytes === undefined || bytes.length === 0) throw new WebhookVerificationError('The signing secret is not valid.')
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
}

function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}
