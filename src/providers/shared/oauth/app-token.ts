import type { Clock } from '../../../platform/time/clock.ts'
import type { AppToken, ProviderError } from '../../contract/index.ts'
import { parseTokenError, type TokenError, unusableResponse } from './errors.ts'
import { limitedFetch } from './limited-fetch.ts'

export interface AppTokenRequest {
  /** For errors: `Google`. */
  service: string
  tokenUrl: string
  /** The grant and its credentials. Secrets: they are sent and never logged. */
  fields: Record<string, string>
  clock: Clock
  /** Explains a refusal of the credentials. Undefined: the response says nothing about them. */
  explain(error: TokenError): ProviderError | undefined
}

const MIN_LIFETIME_SECONDS = 60
const MAX_LIFETIME_SECONDS = 86_400
const MAX_TOKEN_CHARS = 16 * 1024
/** RFC 6750, 2.1: what a header field may carry. */
const TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/

/** Requests a token for an application (RFC 6749, 4.4, and RFC 7523). One attempt of at most 10 s. Throws `ProviderError`. */
export async function requestAppToken({
  service,
  tokenUrl,
  fields,
  clock,
  explain,
}: AppTokenRequest): Promise<AppToken> {
  const { fetch } = limitedFetch(service, () => clock.now())
  const response = await fetch(tokenUrl, {
    method: 'POST',
    headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(fields).toString(),
  })
  const text = await response.text()
  if (response.status === 200) return parseToken(service, text, clock.now())
  const error = parseTokenError(service, text)
  throw error.temporary ?? explain(error) ?? unusableResponse(service, error.detail)
}

function parseToken(service: string, text: string, nowMs: number): AppToken {
  const { access_token: accessToken, expires_in: lifetime, token_type: type } = parseObject(text)
  const isToken = typeof accessToken === 'string' && accessToken.length <= MAX_TOKEN_CHARS && TOKEN.test(accessToken)
  const isBearer = typeof type === 'string' && type.toLowerCase() === 'bearer'
  // Some servers send the number as a text.
  const seconds = Number(lifetime)
  if (!isToken || !isBearer || !(seconds >= MIN_LIFETIME_SECONDS)) throw unusableResponse(service)
  return { accessToken, expiresAt: nowMs + Math.floor(Math.min(seconds, MAX_LIFETIME_SECONDS) * 1000) }
}

function parseObject(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}
