import { isTimeout } from '../../../platform/concurrency/abort.ts'
import { retryAfterMs } from '../../../platform/concurrency/retry.ts'
import { errorCode } from '../../../platform/errors/describe-error.ts'
import { rethrowProgrammingError } from '../../../platform/errors/programming-errors.ts'
import { ProviderError } from '../../contract/index.ts'
import type { RestResponse } from './contract.ts'

/** The client waits for a `Retry-After` up to this long; a longer one is thrown with the error. */
export const MAX_WAIT_MS = 5000

/** Maps a status where the provider's error code adds nothing. The error text of the body is left out: it may quote anything. */
export function statusError({ status, headers }: RestResponse, doing: string, nowMs: number): ProviderError {
  const after = retryAfterMs(single(headers['retry-after']), nowMs)
  const retry = after === undefined ? {} : { retryAfterMs: after }
  if (status === 401) return new ProviderError('auth_expired', `${doing}: the provider refused the access token`)
  if (status === 404) return new ProviderError('not_found', `${doing}: not found`)
  if (status === 410) return new ProviderError('cursor_expired', `${doing}: the cursor has expired`)
  if (status === 412) return new ProviderError('conflict', `${doing}: another version is stored`)
  if (status === 429) return new ProviderError('rate_limited', `${doing}: too many requests`, retry)
  if (status === 408) return new ProviderError('unavailable', `${doing}: the provider timed out`, { timedOut: true })
  if (status >= 400 && status < 500) {
    return new ProviderError('rejected', `${doing}: the provider refused the request (${status})`, {
      denied: status === 403,
    })
  }
  return new ProviderError('unavailable', `${doing}: the provider failed (${status})`, retry)
}

export function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}

/** Codes of undici and the system for a connection that ended before a response. */
const DISCONNECTED = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])
const TIMED_OUT = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT'])

export function isDisconnect(error: unknown): boolean {
  return error instanceof ProviderError && DISCONNECTED.has(errorCode(error.cause))
}

/** Maps a failure without a response. Throws programming errors. */
export function networkError(error: unknown, { doing, host }: Doing): ProviderError {
  if (error instanceof ProviderError) return error
  rethrowProgrammingError(error)
  const code = errorCode(error)
  if (TIMED_OUT.has(code)) return timeoutError({ doing, host }, error)
  const why = code === '' ? 'the connection failed' : `the connection failed (${code})`
  return new ProviderError('unavailable', `${doing}: ${why}`, { host, cause: error })
}

export function timeoutError({ doing, host }: Doing, cause?: unknown): ProviderError {
  return new ProviderError('unavailable', `${doing}: timed out`, { timedOut: true, host, cause })
}

/** Why a signal ended a request: its reason, or that the provider took longer than the caller waits. */
export function abortError({ reason }: AbortSignal, request: Doing): unknown {
  return isTimeout(reason) ? timeoutError(request, reason) : reason
}

/** The purpose of a request, and the server that it goes to. */
export interface Doing {
  doing: string
  host?: string | undefined
}
