import type { ConnectionProblem } from './connection-problems.ts'

/**
 * The error codes: status, the party that failed, and the default message. Only these codes can be thrown. `docs/errors.md` is
 * generated from this table.
 */
export const ERROR_CATALOGUE = {
  validation_failed: [400, 'api', 'The request is not valid.'],
  malformed_json: [400, 'api', 'The body is not valid JSON.'],
  invalid_cursor: [400, 'api', 'The cursor is not valid for this request. Start again without it.'],
  redirect_missing: [400, 'api', 'Pass redirectUri, or set APP_REDIRECT_URL.'],
  imap_auth_failed: [400, 'provider', 'The mail server rejected this username or password.'],
  imap_unreachable: [
    400,
    'provider',
    'Cannot reach a mail server at this host and port. Check both, and whether the port uses TLS.',
  ],
  imap_tls: [
    400,
    'provider',
    'Cannot establish a TLS connection: the certificate is not valid for this host, or the server does not offer STARTTLS.',
  ],
  smtp_auth_failed: [400, 'provider', 'The SMTP server rejected this username or password.'],
  smtp_unreachable: [
    400,
    'provider',
    'Cannot reach an SMTP server at this host and port. Check both, and whether the port uses TLS.',
  ],
  smtp_tls: [
    400,
    'provider',
    'Cannot establish a TLS connection to the SMTP server: the certificate is not valid for this host, or the server does not offer STARTTLS.',
  ],
  caldav_auth_failed: [400, 'provider', 'The CalDAV server rejected this username or password.'],
  caldav_unreachable: [
    400,
    'provider',
    'Cannot find calendars at this URL. Check that it is the URL of a CalDAV server, and begins with https.',
  ],
  caldav_tls: [400, 'provider', 'The certificate of the CalDAV server is not valid for this host.'],
  consent_denied: [400, 'api', 'The user cancelled, or denied access at the provider. Start again and allow access.'],
  consent_incomplete: [
    400,
    'api',
    'The user did not grant a required permission. Start again and allow all permissions.',
  ],
  consent_unknown: [400, 'api', 'This service did not start this sign-in. Start again from the application.'],
  consent_used: [400, 'api', 'This sign-in was already used or has expired. Start again.'],
  consent_failed: [400, 'provider', 'The provider could not complete the sign-in. Try again.'],
  consent_refused: [
    400,
    'provider',
    'The provider rejected this service. Check its registration at the provider and its client settings.',
  ],
  mailbox_refused: [
    400,
    'provider',
    'The sign-in succeeded, but the provider denies access to a mailbox of this account.',
  ],
  mailbox_mismatch: [
    400,
    'api',
    'The user signed in to another mailbox than the one that this session reconnects. Start again and sign in to that one.',
  ],
  unauthorized: [401, 'api', 'The API key is missing. Send it as "Authorization: Bearer <key>".'],
  forbidden: [403, 'api', 'This key does not permit the request.'],
  csrf_failed: [403, 'api', 'The page was opened in another browser or has expired. Open the link again.'],
  licence_limit: [403, 'api', 'The licence does not allow another account. Remove one or extend the licence.'],
  not_found: [404, 'api', 'No object has this id.'],
  route_not_found: [404, 'api', 'This path does not exist.'],
  method_not_allowed: [
    405,
    'api',
    'This path does not support the method. The Allow header lists the methods it supports.',
  ],
  request_timeout: [408, 'api', 'The body did not arrive in time.'],
  conflict: [409, 'api', 'The request conflicts with an existing object.'],
  ambiguous_alias: [409, 'api', 'Several accounts have this customUserId; use an account id.'],
  consent_required: [
    409,
    'api',
    'The user did not grant a scope that this needs. Send the user through a new session (POST /auth/sessions).',
  ],
  not_supported: [409, 'api', 'The provider of this account does not support the operation.'],
  quota_exceeded: [409, 'provider', 'The mailbox is full. Delete messages, or get more space for it.'],
  folder_read_only: [409, 'provider', 'The mail server keeps this folder read-only. Nothing in it can be changed.'],
  not_permitted: [
    409,
    'provider',
    'The mail server does not let this account make the change. Ask the owner of the folder, or the administrator of the server.',
  ],
  idempotency_running: [409, 'api', 'The first request with this Idempotency-Key is still running. Try again shortly.'],
  slot_unavailable: [409, 'api', 'This time is no longer available. Choose another one.'],
  hold_unavailable: [409, 'api', 'This time cannot be held, because few others are free. Book it without a hold.'],
  redirected: [409, 'api', 'This booking continues at another address: see redirectUrl.'],
  session_used: [410, 'api', 'This link was already used. Request a new one.'],
  session_expired: [410, 'api', 'This link has expired. Request a new one.'],
  payload_too_large: [413, 'api', 'The body is too large.'],
  unsupported_media_type: [415, 'api', 'Send the body as application/json.'],
  range_not_satisfiable: [
    416,
    'api',
    'The range begins after the end of the content. The Content-Range header has its size.',
  ],
  idempotency_mismatch: [422, 'api', 'This Idempotency-Key was used with a different body. Use a new key.'],
  rate_limited: [429, 'api', 'Too many requests. Try again after the time in Retry-After.'],
  mail_limited: [
    429,
    'api',
    'Too many messages were sent to addresses that are not verified. Try again after the time in Retry-After.',
  ],
  internal: [500, 'server', 'Internal error. Quote the request id when you report it.'],
  provider_rejected: [502, 'provider', 'The provider rejected the request.'],
  provider_unavailable: [502, 'provider', 'Cannot reach the provider.'],
  callback_failed: [502, 'callback', "The application's endpoint returned an invalid response."],
  not_ready: [503, 'server', 'The service is starting or stopping. Try again shortly.'],
  database_unavailable: [
    503,
    'server',
    'The service cannot use its database at the moment. Try again after the time in Retry-After.',
  ],
  provider_timeout: [504, 'provider', 'The provider did not respond in time.'],
  callback_timeout: [504, 'callback', "The application's endpoint did not respond in time."],
} as const satisfies Record<string, readonly [number, 'api' | 'provider' | 'callback' | 'server', string]>

/** The page of the service that describes every code, relative to its public URL. */
const ERROR_PAGE_PATH = '/docs/errors'

export type ErrorCode = keyof typeof ERROR_CATALOGUE

/** One error of a request: its location (`body.to.0`) and how to fix it. */
export interface ErrorDetail {
  path: string
  message: string
  /** For pages, which explain it in the language of their visitor: what is wrong with a value of a guest, or with a server. */
  code?: DetailCode
}

/** Problems with a value that a guest enters. */
export const INPUT_CODES = [
  'required',
  'too_long',
  'invalid_email',
  'invalid_phone',
  'invalid_option',
  'invalid_characters',
  'contains_link',
  'wrong_code',
] as const
export type DetailCode = (typeof INPUT_CODES)[number] | ConnectionProblem

/** The address at which a service describes the code. */
export function errorDocUrl(publicUrl: string, code: string): string {
  return `${publicUrl}${ERROR_PAGE_PATH}#${code}`
}

export interface AppErrorOptions {
  /** Shown to the caller; default: the catalogue's message. Must not contain secrets or data of another tenant. */
  message?: string
  details?: ErrorDetail[]
  /** Only callers with a key of the service get them, not guests. */
  privateDetails?: ErrorDetail[]
  /** The current state of the object, for a conflict with it. */
  current?: object
  /** Where the client continues, with `redirected`. */
  redirectUrl?: string
  headers?: Record<string, string>
  /** The underlying error, for the log only. */
  cause?: unknown
}

/** The only error whose message reaches a caller. Any other error becomes a bare 500. */
export class AppError extends Error {
  override name = 'AppError'
  readonly code: ErrorCode
  readonly status: number
  readonly type: 'api' | 'provider' | 'callback' | 'server'
  readonly details: ErrorDetail[]
  readonly privateDetails: ErrorDetail[]
  readonly current: object | undefined
  readonly redirectUrl: string | undefined
  readonly headers: Record<string, string>

  constructor(code: ErrorCode, options: AppErrorOptions = {}) {
    const [status, type, text] = ERROR_CATALOGUE[code]
    super(options.message ?? text, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.status = status
    this.type = type
    this.details = options.details ?? []
    this.privateDetails = options.privateDetails ?? []
    this.current = options.current
    this.redirectUrl = options.redirectUrl
    this.headers = options.headers ?? {}
  }
}

/** 404 for a resource: `notFound('account', id)`. */
export function notFound(noun: string, id: string): AppError {
  return new AppError('not_found', { message: `There is no ${noun} with the id "${id.slice(0, 200)}".` })
}

/** 400 for one field: `invalid('body.redirectUri', 'must be a URL')`. */
export function invalid(path: string, message: string, code?: DetailCode): AppError {
  const detail = { path, message, ...(code !== undefined && { code }) }
  return new AppError('validation_failed', { message: `${path}: ${message}`, details: [detail] })
}

/** 400 for several fields; the message names the first. */
export function invalidFields(details: ErrorDetail[]): AppError {
  const [first] = details
  if (first === undefined) return new AppError('validation_failed')
  const more = details.length > 1 ? ` (and ${details.length - 1} more)` : ''
  return new AppError('validation_failed', { message: `${first.path} ${first.message}${more}.`, details })
}
