import { retryAfterMs } from '../../lib/retry.ts'
import { ProviderError } from '../contract/index.ts'
import type { RestResponse } from './contract.ts'

/** A `Retry-After` up to this is waited for; a longer one is thrown with the error. */
export const RETRY_IN_PLACE_MS = 5000

/**
 * What an answer's status means where the provider's own words say no more. The words stay out of the message: they may quote
 * anything.
 */
export function statusFailure({ status, headers }: RestResponse, doing: string, nowMs: number): ProviderError {
  const after = retryAfterMs(single(headers['retry-after']), nowMs)
  const later = after === undefined ? {} : { retryAfterMs: after }
  if (status === 401) return new ProviderError('auth_expired', `${doing}: the provider refused the access token`)
  if (status === 404) return new ProviderError('not_found', `${doing}: there is no such thing`)
  if (status === 410) return new ProviderError('cursor_expired', `${doing}: it is too old to go on from`)
  if (status === 429) return new ProviderError('rate_limited', `${doing}: too many requests`, later)
  if (status === 408)
    return new ProviderError('unavailable', `${doing}: the provider took too long`, { timedOut: true })
  if (status >= 400 && status < 500) {
    return new ProviderError('rejected', `${doing}: the provider refused it (${status})`)
  }
  return new ProviderError('unavailable', `${doing}: the provider answered ${status}`, later)
}

export function single(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header
}

/** Marks a request that broke before any of its answer was there; undici's codes and the system's. */
const BROKEN = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])
const SLOW = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'UND_ERR_CONNECT_TIMEOUT', 'ETIMEDOUT'])

export function isBroken(error: unknown): boolean {
  return error instanceof ProviderError && BROKEN.has(codeOf(error.cause))
}

/** What went wrong on the way to the provider, or while its answer was read. */
export function networkFailure(error: unknown, doing: string): ProviderError {
  if (error instanceof ProviderError) return error
  const code = codeOf(error)
  if (SLOW.has(code)) return timedOut(doing, error)
  const why = code === '' ? 'the connection failed' : `the connection failed (${code})`
  return new ProviderError('unavailable', `${doing}: ${why}`, { cause: error })
}

export function timedOut(doing: string, cause?: unknown): ProviderError {
  return new ProviderError('unavailable', `${doing}: no answer in time`, { timedOut: true, cause })
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
}
