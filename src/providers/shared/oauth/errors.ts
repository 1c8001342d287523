import { AuthorizationResponseError, ResponseBodyError } from 'oauth4webapi'
import { isProgrammingError } from '../../../platform/errors/programming-errors.ts'
import { ProviderError, type ProviderErrorKind } from '../../contract/index.ts'

/** Error codes of RFC 6749, OpenID Connect, Google, Microsoft, Yahoo and Zoho that are more specific than `rejected`. */
const KINDS: Readonly<Record<string, ProviderErrorKind>> = {
  invalid_grant: 'auth_expired',
  invalid_refresh_token: 'auth_expired',
  invalid_code: 'auth_expired',
  interaction_required: 'auth_expired',
  login_required: 'auth_expired',
  consent_required: 'auth_expired',
  account_selection_required: 'auth_expired',
  access_denied: 'auth_expired',
  temporarily_unavailable: 'unavailable',
  server_error: 'unavailable',
  internal_failure: 'unavailable',
  backend_error: 'unavailable',
  slow_down: 'rate_limited',
  rate_limit_exceeded: 'rate_limited',
}

/** Microsoft returns `invalid_grant` with these codes too, although they are temporary (directory busy, throttled). */
const TEMPORARY_AADSTS: ReadonlySet<number> = new Set([90006, 90024, 90033, 90055])

/** Maps what oauth4webapi throws. Its errors hold entire responses, with tokens in them, so only the error code is kept. */
export function loginError(service: string, error: unknown): unknown {
  if (error instanceof ProviderError || isProgrammingError(error)) return error
  if (error instanceof ResponseBodyError) return toError(service, error.error, error.cause)
  if (error instanceof AuthorizationResponseError) return toError(service, error.error, undefined)
  if (error instanceof Error && 'code' in error) return unusableResponse(service, safe(String(error.code)))
  return error
}

/** For a response that lacks what it must contain. */
export function unusableResponse(service: string, code?: string): ProviderError {
  const detail = code === undefined ? '' : ` (${code})`
  return new ProviderError('unavailable', `${service} returned an unusable response${detail}`)
}

function toError(service: string, code: string, body: Record<string, unknown> | undefined): ProviderError {
  const aadsts = readAadsts(body)
  if (aadsts.some((each) => TEMPORARY_AADSTS.has(each))) {
    return new ProviderError('unavailable', `${service} is busy (AADSTS${aadsts[0]})`)
  }
  const kind = KINDS[code.toLowerCase()] ?? 'rejected'
  const sentence = REFUSED_CLIENT.includes(code.toLowerCase()) ? CLIENT_SENTENCE : SENTENCES[kind]
  return new ProviderError(
    kind,
    `${service} ${sentence ?? 'refused the request'} (${formatDetail(code, aadsts)})`,
    // Google's response to a refresh token of another client. Microsoft's `invalid_grant` gives no reason, and its
    // `unauthorized_client` is about the client itself.
    { foreignToken: code === 'unauthorized_client' && aadsts.length === 0 },
  )
}

function readAadsts(body: Record<string, unknown> | undefined): number[] {
  return Array.isArray(body?.error_codes) ? body.error_codes.filter((each) => typeof each === 'number') : []
}

const formatDetail = (code: string, aadsts: readonly number[]) =>
  aadsts.length === 0 ? safe(code) : `${safe(code)}, AADSTS${aadsts[0]}`

/** The error of a response, and the same with the number that Microsoft adds, safe to show. */
export function parseErrorCode(responseText: string): { error: string; code: string } {
  const body = parseBody(responseText)
  if (typeof body.error !== 'string') return { error: '', code: 'unreadable response' }
  return { error: body.error, code: formatDetail(body.error, readAadsts(body)) }
}

/** What a token endpoint says when it refuses a request. */
export interface TokenError {
  /** Of RFC 6749; empty when the response cannot be read. */
  error: string
  /** The numbers that Microsoft adds. */
  aadsts: readonly number[]
  /** The sentence beside it. It may quote anything, so it is never shown or logged. */
  description: string
  /** The error code with the first of them, safe to show. */
  detail: string
  /** Set when the same request may succeed later. */
  temporary: ProviderError | undefined
}

export function parseTokenError(service: string, responseText: string): TokenError {
  const body = parseBody(responseText)
  const error = typeof body.error === 'string' ? body.error : ''
  const aadsts = readAadsts(body)
  const detail = error === '' ? 'unreadable response' : formatDetail(error, aadsts)
  const known = toError(service, error, body)
  const description = typeof body.error_description === 'string' ? body.error_description : ''
  return { error, aadsts, description, detail, temporary: TEMPORARY_KINDS.has(known.kind) ? known : undefined }
}

const TEMPORARY_KINDS: ReadonlySet<ProviderErrorKind> = new Set(['unavailable', 'rate_limited'])

function parseBody(text: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(text))
  } catch {
    return {}
  }
}

const SENTENCES: { readonly [Kind in ProviderErrorKind]?: string } = {
  auth_expired: 'no longer grants access: the user must sign in and consent again',
  unavailable: 'is temporarily unavailable',
  rate_limited: 'received too many requests',
  rejected: 'refused the request of this service',
}

/** The codes for a wrong id or secret. Google has the last two for clients that were deleted or disabled. */
export const REFUSED_CLIENT: readonly string[] = ['invalid_client', 'deleted_client', 'disabled_client']

const CLIENT_SENTENCE = 'refuses the OAuth client of this service: an operator must correct its id or secret'

/** A code that is safe to log. */
function safe(code: string): string {
  return /^[A-Za-z0-9_.-]{1,80}$/.test(code) ? code : 'unreadable code'
}
