/** Any failure of this package. What aborts a call with its own signal is thrown as it is. */
export class PosthornError extends Error {
  override name = 'PosthornError'
}

/** No complete response arrived: the address is wrong, the service does not run, or the connection broke. */
export class ConnectionError extends PosthornError {
  override name = 'ConnectionError'
}

/** No response, or no further part of it, arrived within `timeoutMs`. */
export class TimeoutError extends ConnectionError {
  override name = 'TimeoutError'
}

/** A response that is no JSON object: something else than the service responded, such as a web server at another path. */
export class InvalidResponseError extends PosthornError {
  override name = 'InvalidResponseError'
  readonly status: number

  constructor(message: string, status: number) {
    super(message)
    this.status = status
  }
}

/** The signature of a webhook is missing, invalid or too old. */
export class WebhookVerificationError extends PosthornError {
  override name = 'WebhookVerificationError'
}

/** One value of a request that is not valid. */
export interface ErrorDetail {
  /** Such as `body.to.0` or `query.limit`. */
  path: string
  message: string
  code?: string
}

/** What an error response says. */
export interface ApiErrorFields {
  status: number
  /**
   * Such as `validation_failed`: base decisions on it. The errors page of the documentation lists all codes. `http_502` and
   * the like: the response does not come from the service, but from a proxy, for example.
   */
  code: string
  /** The party that failed: `api` (the request), `provider`, `callback` (your endpoint) or `server`. */
  type: string
  message: string
  details: readonly ErrorDetail[]
  docUrl: string | undefined
  /** Quote it when you report a problem. */
  requestId: string | undefined
  /** How long to wait before another attempt, from `Retry-After`. */
  retryAfterMs: number | undefined
  /** With a stale `ifMatch`: the object as it is now. */
  current: unknown
}

/** The service refused the request. There is a class for each kind of status. */
export class ApiError extends PosthornError implements ApiErrorFields {
  override name = 'ApiError'
  readonly status: number
  readonly code: string
  readonly type: string
  readonly details: readonly ErrorDetail[]
  readonly docUrl: string | undefined
  readonly requestId: string | undefined
  readonly retryAfterMs: number | undefined
  readonly current: unknown

  constructor(fields: ApiErrorFields) {
    super(fields.message)
    this.status = fields.status
    this.code = fields.code
    this.type = fields.type
    this.details = fields.details
    this.docUrl = fields.docUrl
    this.requestId = fields.requestId
    this.retryAfterMs = fields.retryAfterMs
    this.current = fields.current
  }

  /** The first value that is not valid, such as `body.to.0`. */
  get field(): string | undefined {
    return this.details[0]?.path
  }
}

/** 400, 413, 415, 416: correct the request. `details` lists the values to correct. */
export class BadRequestError extends ApiError {
  override name = 'BadRequestError'
}

/** 401: the API key is missing or not valid. */
export class AuthenticationError extends ApiError {
  override name = 'AuthenticationError'
}

/** 403: the key lacks a scope, or the licence does not allow the request. */
export class PermissionError extends ApiError {
  override name = 'PermissionError'
}

/** 404 and 410: no object has this id, or it can no longer be used. */
export class NotFoundError extends ApiError {
  override name = 'NotFoundError'
}

/** 409: the request conflicts with an object as it is now. */
export class ConflictError extends ApiError {
  override name = 'ConflictError'
}

/** 422: the request is well formed, but cannot be carried out. */
export class UnprocessableError extends ApiError {
  override name = 'UnprocessableError'
}

/** 429: too many requests, and more waiting than `maxRetryDelayMs` or `maxRetries` allow. */
export class RateLimitError extends ApiError {
  override name = 'RateLimitError'
}

/** 5xx: the service failed, or the party that `type` names. */
export class ServerError extends ApiError {
  override name = 'ServerError'
}

const CLASSES: Readonly<Record<number, typeof ApiError>> = {
  400: BadRequestError,
  401: AuthenticationError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  410: NotFoundError,
  413: BadRequestError,
  415: BadRequestError,
  416: BadRequestError,
  422: UnprocessableError,
  429: RateLimitError,
}

/** Makes the error of a response, also of one that a proxy sent in place of the service. */
export async function readError(response: Response): Promise<ApiError> {
  const { status, headers } = response
  const body = asRecord(parseJson(await response.text()))
  const error = asRecord(body?.error)
  const Kind = CLASSES[status] ?? (status >= 500 ? ServerError : ApiError)
  return new Kind({
    status,
    code: asText(error?.code) ?? `http_${status}`,
    type: asText(error?.type) ?? 'server',
    message: asText(error?.message) ?? `The response has the status ${status}, and does not come from Posthorn.`,
    details: Array.isArray(error?.details) ? error.details : [],
    docUrl: asText(error?.docUrl),
    requestId: asText(body?.requestId),
    retryAfterMs: readRetryAfter(headers.get('retry-after')),
    current: error?.current,
  })
}

/** Seconds, or a date. */
function readRetryAfter(value: string | null): number | undefined {
  if (value === null) return undefined
  if (/^\d+$/.test(value)) return Number(value) * 1000
  const atMs = Date.parse(value)
  return Number.isNaN(atMs) ? undefined : Math.max(0, atMs - Date.now())
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined
}

function asText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
