import { ApiError, ConnectionError } from '../errors.ts'

const FIRST_DELAY_MS = 500
const LONGEST_DELAY_MS = 8000
/** The service did not begin to process the request. */
const NOT_BEGUN = [429, 503]
/** The request may have had an effect. */
const UNKNOWN = [500, 502, 504]

/** Attempts after the first one, unless the caller says otherwise. */
export const DEFAULT_RETRIES = 2

/**
 * Whether another attempt can succeed without doing something twice.
 * @param isRepeatable doing the request twice has the effect of doing it once
 */
export function isRetryable(error: unknown, isRepeatable: boolean): boolean {
  if (error instanceof ConnectionError) return isRepeatable
  if (!(error instanceof ApiError)) return false
  if (NOT_BEGUN.includes(error.status)) return true
  // An earlier attempt still runs, and its response is the result of this one.
  if (error.code === 'idempotency_running') return true
  return isRepeatable && UNKNOWN.includes(error.status)
}

/**
 * At least the time in `Retry-After`, undefined when that is longer than `longestMs`. Grows with each failure, and is random,
 * so that clients do not return all at once.
 */
export function retryDelayMs(failures: number, error: unknown, longestMs: number): number | undefined {
  const backoffMs = Math.min(FIRST_DELAY_MS * 2 ** (failures - 1), LONGEST_DELAY_MS, longestMs)
  const randomMs = backoffMs * (0.5 + Math.random() / 2)
  const retryAfterMs = error instanceof ApiError ? error.retryAfterMs : undefined
  if (retryAfterMs === undefined) return randomMs
  return retryAfterMs > longestMs ? undefined : retryAfterMs + randomMs / 4
}
