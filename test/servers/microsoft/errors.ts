import { randomUUID } from 'node:crypto'
import { commonFault, type PlannedFault } from '../fake/faults.ts'
import type { FakeResponse } from '../fake/http-server.ts'
import type { Refusal } from '../fake/refusals.ts'

/** An error as Graph writes it. */
export function graphError(
  status: number,
  code: string,
  message: string,
  headers: Record<string, string> = {},
): Response {
  const innerError = { date: new Date().toISOString(), 'request-id': randomUUID() }
  return Response.json({ error: { code, message, innerError } }, { status, headers })
}

/** An application has no `me`. */
export const noMe = () => graphError(400, 'BadRequest', '/me request is only valid with delegated authentication flow.')
export const itemNotFound = () =>
  graphError(404, 'ErrorItemNotFound', 'The specified object was not found in the store.')
export const badRequest = (message: string) => graphError(400, 'BadRequest', message)
/** In place of 404 for a message that was deleted before. */
export const cannotDelete = () =>
  graphError(403, 'ErrorCannotDeleteObject', "The delete operation can't be performed on this object.")
export const noSegment = (name: string) => badRequest(`Resource not found for the segment '${name}'.`)
/** 503 or 504: for some mailboxes a page takes Exchange too long. */
export const pageTooLarge = (status: number) => graphError(status, 'UnknownError', '')
export const noMailbox = () =>
  graphError(
    404,
    'MailboxNotEnabledForRESTAPI',
    'The mailbox is either inactive, soft-deleted, or is hosted on-premise.',
  )
export const resourceNotFound = (id: string) =>
  graphError(
    404,
    'Request_ResourceNotFound',
    `Resource '${id}' does not exist or one of its queried reference-property objects are not present.`,
  )
export const unauthenticated = () =>
  graphError(401, 'InvalidAuthenticationToken', 'Access token has expired or is not yet valid.', {
    'www-authenticate': 'Bearer realm="", error="invalid_token"',
  })
/** As users without a licence for Exchange get it. */
export const refusedToken = () => new Response(null, { status: 401 })
export const sendAsDenied = () =>
  graphError(
    403,
    'ErrorSendAsDenied',
    'The user account which was used to submit this request does not have the right to send mail on behalf of the specified sending account.',
  )
export const accessDenied = () =>
  graphError(403, 'ErrorAccessDenied', 'Access is denied. Check credentials and try again.')
export const syncStateNotFound = () =>
  graphError(410, 'syncStateNotFound', 'The sync state generation is not found. Start a full synchronization.')
export const tooManyAtOnce = () =>
  graphError(429, 'ApplicationThrottled', 'Application is over its MailboxConcurrency limit.', { 'retry-after': '1' })
export const limitExceeded = (name: string) =>
  graphError(429, 'ApplicationThrottled', `Application is over its limit of ${name}.`, { 'retry-after': '10' })

/** An RFC 6749 error with Entra's error numbers. */
export const oauthError = (error: string, number: number, description: string, status = 400) =>
  Response.json(
    { error, error_description: `AADSTS${number}: ${description}`, error_codes: [number], trace_id: randomUUID() },
    { status },
  )

export function graphFault(fault: PlannedFault): FakeResponse {
  const headers: Record<string, string> =
    fault.retryAfter === undefined ? {} : { 'retry-after': String(fault.retryAfter) }
  const common = commonFault(fault.as)
  if (common) return common
  if (fault.as === 'rate-limited') return graphError(429, 'TooManyRequests', 'Too many requests.', headers)
  if (fault.as === 'unauthorized') return unauthenticated()
  if (fault.as === 'unavailable') return graphError(503, 'serviceNotAvailable', 'The service is unavailable.', headers)
  if (fault.as === 'cannot-delete') return cannotDelete()
  if (fault.as === 'server-error')
    return graphError(500, 'ErrorInternalServerError', 'An internal server error occurred.')
  return accessDenied()
}

/** One calendar is refused. Graph says the same of a scope and of a calendar that the user may not open. */
export function refusedCalendar(refusal: Refusal): Response {
  switch (refusal) {
    case 'forbidden':
    case 'missing-scope':
      return accessDenied()
    case 'not-found':
      return itemNotFound()
    case 'gone':
      return graphError(410, 'ErrorItemNotFound', 'The specified object was not found in the store.')
    case 'unauthorized':
      return unauthenticated()
    case 'server-error':
      return graphError(500, 'ErrorInternalServerError', 'An internal server error occurred.')
  }
}
