import { STATUS_CODES } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isTimeout } from '../../../concurrency/abort.ts'
import { DatabaseUnavailable } from '../../../db/index.ts'
import { AppError, type ErrorDetail, errorDocUrl } from '../../../errors/app-error.ts'
import { errorCode } from '../../../errors/describe-error.ts'
import { isOutOfFiles, outOfFiles } from '../../../errors/open-files.ts'

/** The body of every error response. */
export interface ErrorBody {
  success: false
  error: { code: string; type: string; message: string; docUrl: string; details: ErrorDetail[] } & ErrorMembers
  requestId: string
}

/** Members that only some codes have. */
interface ErrorMembers {
  current?: object
  redirectUrl?: string
}

/** `publicUrl` is the address of the service, to which `docUrl` leads. `hasKey`: the caller gets the private details too. */
export function errorBody(error: AppError, requestId: string, publicUrl: string, hasKey = false): ErrorBody {
  const { code, type, message } = error
  const docUrl = errorDocUrl(publicUrl, code)
  const details = visibleDetails(error, hasKey)
  return { success: false, error: { code, type, message, docUrl, details, ...pickMembers(error) }, requestId }
}

/** The same error as RFC 9457 problem details. */
function problemBody(error: AppError, requestId: string, publicUrl: string, hasKey: boolean): Record<string, unknown> {
  const { code, type, message, status } = error
  // RFC 9457: with `about:blank` the title is the name of the status.
  return {
    type: 'about:blank',
    title: STATUS_CODES[status] ?? code,
    status,
    detail: message,
    instance: requestId,
    code,
    source: type,
    docUrl: errorDocUrl(publicUrl, code),
    details: visibleDetails(error, hasKey),
    ...pickMembers(error),
  }
}

function visibleDetails({ details, privateDetails }: AppError, hasKey: boolean): ErrorDetail[] {
  return hasKey ? [...details, ...privateDetails] : details
}

function pickMembers({ current, redirectUrl }: AppError): ErrorMembers {
  return { ...(current !== undefined && { current }), ...(redirectUrl !== undefined && { redirectUrl }) }
}

/** Sends an error response: JSON, or problem details when the client accepts them. */
export function sendError(request: FastifyRequest, reply: FastifyReply, error: AppError): FastifyReply {
  const problem = acceptsProblem(request.headers.accept)
  const body = (problem ? problemBody : errorBody)(
    error,
    request.id,
    reply.server.publicUrl,
    request.caller !== undefined,
  )
  return reply
    .code(error.status)
    .header('x-request-id', request.id)
    .headers(error.headers)
    .type(problem ? 'application/problem+json' : 'application/json; charset=utf-8')
    .serializer(JSON.stringify)
    .send(body)
}

function acceptsProblem(accept: string | undefined): boolean {
  return accept?.toLowerCase().includes('application/problem+json') ?? false
}

const FASTIFY_CODES: Record<string, () => AppError> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: () => new AppError('unsupported_media_type'),
  FST_ERR_CTP_BODY_TOO_LARGE: () => new AppError('payload_too_large'),
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: () =>
    new AppError('malformed_json', { message: 'The length of the body differs from its Content-Length.' }),
  FST_ERR_BAD_URL: () => new AppError('validation_failed', { message: 'The path is not a valid URL.' }),
  FST_ERR_MAX_PARAM_LENGTH: () => new AppError('not_found'),
}

/** A database restart takes seconds. */
const RETRY_AFTER_SECONDS = '5'

/** The error that the caller receives: an `AppError` as thrown, any unknown error as a bare 500. */
export function asAppError(error: unknown): AppError {
  if (error instanceof AppError) return error
  if (error instanceof DatabaseUnavailable) {
    return new AppError('database_unavailable', {
      message: `The service cannot use its database at the moment: ${error.summary}. Try again after the time in Retry-After.`,
      headers: { 'retry-after': RETRY_AFTER_SECONDS },
      cause: error,
    })
  }
  // The limit of an outgoing call that its caller did not map. No limit of our own work ends this way.
  if (isTimeout(error)) return new AppError('provider_timeout', { cause: error })
  if (isOutOfFiles(error)) return outOfFiles(error)
  const build = FASTIFY_CODES[errorCode(error)]
  return build?.() ?? new AppError('internal', { cause: error })
}
