import { AppError, type ErrorCode, invalid } from '../../../platform/errors/app-error.ts'
import type { ProviderName } from '../../../providers/contract/index.ts'

const FORBIDDEN_SCHEMES = new Set(['javascript:', 'data:', 'file:', 'vbscript:', 'blob:'])
const MAX_LENGTH = 2048

/**
 * Where the browser goes once the account is linked: the session's own URI, else the service's. Mobile and desktop apps
 * have schemes of their own, so any scheme passes unless it runs code or reads local data. Throws redirect_missing.
 */
export function redirectTarget(redirectUri: string | undefined, fallback: string | undefined): string {
  const target = redirectUri ?? fallback
  if (target === undefined) throw new AppError('redirect_missing')
  if (target.length > MAX_LENGTH) throw invalid('body.redirectUri', `must have at most ${MAX_LENGTH} characters`)
  // Like browsers, the URL parser drops tabs and line breaks first, so `java\nscript:` does not pass.
  const url = URL.canParse(target) ? new URL(target) : undefined
  if (url === undefined) throw invalid('body.redirectUri', 'must be an absolute URL')
  if (FORBIDDEN_SCHEMES.has(url.protocol)) throw invalid('body.redirectUri', `must not be a ${url.protocol} URL`)
  return url.href
}

/** URL of the session's hosted page. */
export function authorizeUrl(publicUrl: string, code: string, state?: string): string {
  const query = new URLSearchParams({ session: code, ...(state !== undefined && { state }) })
  return `${publicUrl}/auth/authorize?${query}`
}

/** The session's redirect URI with the result. `applicationState` is the state the application chose, if any. */
export function successUrl(
  redirectUri: string,
  code: string,
  account: { id: string; provider: ProviderName; email: string },
  applicationState: string | undefined,
): string {
  const { id: accountId, provider, email } = account
  return withResult(redirectUri, { status: 'success', accountId, provider, email, session: code }, applicationState)
}

/** The session's redirect URI for a user who returns without a mailbox. `cancelled` when the user denied access. */
export function failureUrl(
  redirectUri: string,
  code: string,
  error: ErrorCode,
  applicationState: string | undefined,
): string {
  const status = error === 'consent_denied' ? 'cancelled' : 'error'
  return withResult(redirectUri, { status, error, session: code }, applicationState)
}

/** Existing parameters keep their exact spelling, except those with our names, which are replaced. */
function withResult(redirectUri: string, result: Record<string, string>, state: string | undefined): string {
  const ours = new URLSearchParams({ ...result, ...(state !== undefined && { state }) })
  const url = new URL(redirectUri)
  const theirs = url.search
    .slice(1)
    .split('&')
    .filter((pair) => pair !== '' && ![...new URLSearchParams(pair).keys()].some((name) => ours.has(name)))
  url.search = [...theirs, ours.toString()].join('&')
  return url.href
}
