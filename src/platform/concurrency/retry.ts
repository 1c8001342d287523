export interface Backoff {
  baseMs: number
  capMs: number
}

/**
 * Delay before retry number `attempt`, counted from 1: exponential and capped. Jitter over the upper half keeps the clients of a
 * dead host from retrying together.
 */
export function backoffMs(attempt: number, { baseMs, capMs }: Backoff, random: () => number = Math.random): number {
  const ceiling = Math.min(capMs, baseMs * 2 ** Math.min(attempt - 1, 30))
  return Math.round(ceiling / 2 + (ceiling / 2) * random())
}

const RETRY_AFTER_SECONDS = /^\d{1,10}$/

/** Longer delays are unintended and overflow timers. */
const MAX_RETRY_AFTER_MS = 24 * 60 * 60 * 1000

/** Milliseconds from a `Retry-After` header (seconds or an HTTP date), at most a day; undefined when the header is invalid. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined
  const text = header.trim()
  if (RETRY_AFTER_SECONDS.test(text)) return Math.min(Number(text) * 1000, MAX_RETRY_AFTER_MS)
  const atMs = Date.parse(text)
  return Number.isNaN(atMs) ? undefined : Math.min(Math.max(0, atMs - nowMs), MAX_RETRY_AFTER_MS)
}
