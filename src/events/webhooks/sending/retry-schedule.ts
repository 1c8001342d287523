/** The longest delay, whatever `Retry-After` or the exponential strategy gives. */
const MAX_DELAY_MS = 24 * 60 * 60_000

interface RetryPolicy {
  retryDelayMs: number
  retryStrategy: 'fixed' | 'exponential'
}

/**
 * Milliseconds from the end of attempt `attempt` (the first is 1) to the next one: `retryDelayMs` as it is set, or
 * doubled with each attempt. A receiver's `Retry-After` can extend the delay up to 24 h, never shorten it.
 */
export function retryDelayMs(policy: RetryPolicy, attempt: number, retryAfterMs = 0): number {
  const factor = policy.retryStrategy === 'fixed' ? 1 : 2 ** Math.min(attempt - 1, 30)
  return Math.max(Math.min(policy.retryDelayMs * factor, MAX_DELAY_MS), Math.min(retryAfterMs, MAX_DELAY_MS))
}
