import type { PlannedFault } from '../fake/faults.ts'
import { commonFault } from '../fake/faults.ts'
import type { FakeResponse } from '../fake/http-server.ts'
import type { Refusal } from '../fake/refusals.ts'

/** An error as Google's APIs write it. */
export function googleError(
  code: number,
  reason: string,
  status: string,
  message: string,
  options: { domain?: string; headers?: Record<string, string>; details?: unknown[] } = {},
): Response {
  const error = {
    code,
    message,
    errors: [{ message, domain: options.domain ?? 'global', reason }],
    status,
    ...(options.details ? { details: options.details } : {}),
  }
  return Response.json({ error }, { status: code, headers: options.headers ?? {} })
}

export const notFound = () => googleError(404, 'notFound', 'NOT_FOUND', 'Requested entity was not found.')
export const badRequest = (message: string) => googleError(400, 'invalidArgument', 'INVALID_ARGUMENT', message)
export const unauthenticated = () =>
  googleError(
    401,
    'authError',
    'UNAUTHENTICATED',
    'Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other valid authentication credential.',
    { headers: { 'www-authenticate': 'Bearer realm="https://accounts.google.com/", error="invalid_token"' } },
  )

export const missingScope = () =>
  googleError(403, 'insufficientPermissions', 'PERMISSION_DENIED', 'Request had insufficient authentication scopes.', {
    headers: { 'www-authenticate': 'Bearer realm="https://accounts.google.com/", error="insufficient_scope"' },
    details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'ACCESS_TOKEN_SCOPE_INSUFFICIENT' }],
  })

/** A change that met another one of the same user. */
export const aborted = () => googleError(409, 'aborted', 'ABORTED', 'The operation was aborted.')

export const failedPrecondition = (message: string) =>
  googleError(400, 'failedPrecondition', 'FAILED_PRECONDITION', message)

/** A limit of the People API, as users report it. */
export const peopleQuota = (metric: string) =>
  googleError(
    429,
    'rateLimitExceeded',
    'RESOURCE_EXHAUSTED',
    `Quota exceeded for quota metric '${metric}' and limit '${metric} per minute per user' of service 'people.googleapis.com' for consumer 'project_number:123456789012'.`,
    { details: [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'RATE_LIMIT_EXCEEDED' }] },
  )

/** OAuth's own form, RFC 6749. */
export const oauthError = (error: string, description: string, status = 400) =>
  Response.json({ error, error_description: description }, { status })

export function googleFault(fault: PlannedFault): FakeResponse {
  const headers: Record<string, string> =
    fault.retryAfter === undefined ? {} : { 'retry-after': String(fault.retryAfter) }
  const limited = { domain: 'usageLimits', headers }
  const common = commonFault(fault.as)
  if (common) return common
  if (fault.as === 'rate-limited')
    return googleError(429, 'rateLimitExceeded', 'RESOURCE_EXHAUSTED', 'Too many requests for user.', limited)
  if (fault.as === 'rate-limited-403')
    return googleError(403, 'rateLimitExceeded', 'PERMISSION_DENIED', 'Rate Limit Exceeded', limited)
  if (fault.as === 'rate-limited-until') {
    const until = new Date(Date.now() + (fault.retryAfter ?? 0) * 1000).toISOString()
    const message = `User-rate limit exceeded.  Retry after ${until}`
    return googleError(429, 'rateLimitExceeded', 'RESOURCE_EXHAUSTED', message, { domain: 'usageLimits' })
  }
  if (fault.as === 'aborted') return aborted()
  if (fault.as === 'daily-limit')
    return googleError(403, 'dailyLimitExceeded', 'PERMISSION_DENIED', 'Daily Limit Exceeded', limited)
  if (fault.as === 'missing-scope') return missingScope()
  if (fault.as === 'unauthorized') return unauthenticated()
  if (fault.as === 'unavailable')
    return googleError(503, 'backendError', 'UNAVAILABLE', 'The service is currently unavailable.', { headers })
  return googleError(500, 'backendError', 'INTERNAL', 'Internal error encountered.')
}

/** One calendar is refused. */
export function refusedCalendar(refusal: Refusal): Response {
  switch (refusal) {
    case 'forbidden': {
      const message = 'You need to have reader access to this calendar.'
      return googleError(403, 'requiredAccessLevel', 'PERMISSION_DENIED', message, { domain: 'calendar' })
    }
    case 'missing-scope':
      return missingScope()
    case 'not-found':
      return notFound()
    case 'gone':
      return googleError(410, 'deleted', 'FAILED_PRECONDITION', 'Resource has been deleted')
    case 'unauthorized':
      return unauthenticated()
    case 'server-error':
      return googleError(500, 'backendError', 'INTERNAL', 'Internal error encountered.')
  }
}
