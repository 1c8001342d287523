import { AuthorizationResponseError, ResponseBodyError } from 'oauth4webapi'
import { ProviderError, type ProviderErrorKind } from '../contract/index.ts'

/** Error codes of RFC 6749, OpenID Connect, Google and Microsoft that say more than "refused". */
const KINDS: Readonly<Record<string, ProviderErrorKind>> = {
  invalid_grant: 'auth_expired',
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

/** Microsoft says `invalid_grant` in these cases too, where waiting helps: its directory is busy, or asks for fewer requests. */
const PASSING_AADSTS: ReadonlySet<number> = new Set([90006, 90024, 90033, 90055])

/**
 * What the OAuth library throws, in the words of the contract. Its errors carry whole answers, tokens among them, so nothing of
 * them is kept but the code.
 */
export function loginFailure(who: string, error: unknown): unknown {
  if (error instanceof ProviderError) return error
  if (error instanceof ResponseBodyError) return refusal(who, error.error, error.cause)
  if (error instanceof AuthorizationResponseError) return refusal(who, error.error, undefined)
  if (error instanceof Error && 'code' in error) {
    return new ProviderError('unavailable', `${who} gave an answer that makes no sense (${safe(String(error.code))})`)
  }
  return error
}

function refusal(who: string, code: string, body: Record<string, unknown> | undefined): ProviderError {
  const aadsts = Array.isArray(body?.error_codes) ? body.error_codes.filter((each) => typeof each === 'number') : []
  if (aadsts.some((each) => PASSING_AADSTS.has(each))) {
    return new ProviderError('unavailable', `${who} is busy (AADSTS${aadsts[0]})`)
  }
  const detail = aadsts.length === 0 ? safe(code) : `${safe(code)}, AADSTS${aadsts[0]}`
  const kind = KINDS[code] ?? 'rejected'
  return new ProviderError(kind, `${who} ${SENTENCES[kind] ?? 'refused'} (${detail})`)
}

const SENTENCES: { readonly [Kind in ProviderErrorKind]?: string } = {
  auth_expired: 'gives no access any more: the user must consent again',
  unavailable: 'has trouble of its own',
  rate_limited: 'asks to wait',
  rejected: 'refused what this service sent',
}

/** A code as it may stand in a log. */
function safe(code: string): string {
  return /^[A-Za-z0-9_.-]{1,80}$/.test(code) ? code : 'unreadable code'
}
