export interface Backoff {
  baseMs: number
  capMs: number
}

/**
 * Delay before try `attempt` (1 is the first retry): exponential, capped, with full jitter over the upper half so
 * that many clients of one dead host do not come back together.
 */
export function backoffMs(attempt: number, { baseMs, capMs }: Backoff, random: () => number = Math.random): number {
  const ceiling = Math.min(capMs, baseMs * 2 ** Math.min(attempt - 1, 30))
  return Math.round(ceiling / 2 + (ceiling / 2) * random())
}

const RETRY_AFTER_SECONDS = /^\d{1,10}$/

/** A longer pause is nobody's intention, and more than timers can count. */
const MAX_RETRY_AFTER_MS = 24 * 60 * 60 * 1000

/** Milliseconds, a day at most, asked for by a `Retry-After` header (seconds or an HTTP date), or undefined when it says nothing usable. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined
  const text = header.trim()
  if (RETRY_AFTER_SECONDS.test(text)) return Math.min(Number(text) * 1000, MAX_RETRY_AFTER_MS)
  const atMs = Date.parse(text)
  return Number.isNaN(atMs) ? undefined : Math.min(Math.max(0, atMs - nowMs), MAX_RETRY_AFTER_MS)
}
