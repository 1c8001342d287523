import { AppError, type ErrorCode } from '../../errors/app-error.ts'
import { errorBody } from '../server/responses/errors.ts'
import type { Json } from './components.ts'

/** The error responses that operations share, by the name of their component. */
const ERROR_RESPONSES = {
  BadRequest: {
    code: 'validation_failed',
    description: 'The request is not valid. `error.details` lists the values to correct.',
  },
  Unauthorized: {
    code: 'unauthorized',
    description: 'The API key is missing or not valid.',
    headers: ['WWW-Authenticate'],
  },
  Forbidden: {
    code: 'forbidden',
    description: 'The key lacks the required scope, or the licence does not allow the request.',
  },
  NotFound: { code: 'not_found', description: 'No object has this id.' },
  Conflict: {
    code: 'idempotency_running',
    description:
      'The request conflicts with an existing object, or the first request with this Idempotency-Key is still running.',
    headers: ['Retry-After'],
  },
  RangeNotSatisfiable: {
    code: 'range_not_satisfiable',
    description: 'The range begins after the end of the content.',
    headers: ['Content-Range'],
  },
  Gone: {
    code: 'session_used',
    description: 'The session was completed, or has expired.',
  },
  IdempotencyMismatch: {
    code: 'idempotency_mismatch',
    description: 'The Idempotency-Key was used with a different body.',
  },
  PayloadTooLarge: { code: 'payload_too_large', description: 'The body is too large.' },
  UnsupportedMediaType: {
    code: 'unsupported_media_type',
    description: 'The path does not accept the content type of the body.',
  },
  RateLimited: {
    code: 'rate_limited',
    description: 'Too many requests. Try again after the time in `Retry-After`.',
    headers: ['Retry-After', 'RateLimit-Reset'],
  },
  BadGateway: {
    code: 'provider_unavailable',
    description: "The provider or the application's endpoint cannot be reached, or rejected the request.",
  },
  Unavailable: {
    code: 'not_ready',
    description: 'The service cannot process the request at the moment: it starts, stops, or cannot use its database.',
    headers: ['Retry-After'],
  },
  GatewayTimeout: {
    code: 'provider_timeout',
    description: "The provider or the application's endpoint did not respond in time.",
  },
  Error: { code: 'internal', description: 'Any other error; see `error.code`.' },
} as const satisfies Record<string, { code: ErrorCode; description: string; headers?: readonly string[] }>

export type ErrorResponseName = keyof typeof ERROR_RESPONSES

/** The components of all of them. */
export function sharedErrorResponses(schema: Json, serverUrl: string): Json {
  const names = Object.keys(ERROR_RESPONSES) as ErrorResponseName[]
  return Object.fromEntries(
    names.map((name) => [
      name,
      errorResponse(name, schema, { example: errorExample(ERROR_RESPONSES[name].code, serverUrl) }),
    ]),
  )
}

/** One of them, with `example` or `examples` as members of its media type. */
export function errorResponse(name: ErrorResponseName, schema: Json, examples: { [name: string]: Json }): Json {
  const { description, ...more } = ERROR_RESPONSES[name]
  const headers = 'headers' in more ? more.headers.map((header) => [header, { schema: { type: 'string' } }]) : []
  return {
    description,
    ...(headers.length > 0 && { headers: Object.fromEntries(headers) }),
    content: { 'application/json': { schema, ...examples } },
  }
}

/** Made like a real error, with the default message of its code. */
function errorExample(code: ErrorCode, serverUrl: string): Json {
  const body = errorBody(new AppError(code), 'req_01k9zw6b3d5f7h9k1n3q5s7v9x', serverUrl)
  return JSON.parse(JSON.stringify(body))
}
