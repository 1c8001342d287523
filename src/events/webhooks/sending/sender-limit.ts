import type { Outcome } from './attempt.ts'

export const FEWEST_SENDERS = 8
const MOST_SENDERS = 32
const QUICK_MS = 500

/** Concurrent requests to an endpoint after an attempt: one more after a quick success, the fewest after a failure or a slow response. */
export function nextSenderLimit(limit: number, { error, durationMs }: Pick<Outcome, 'error' | 'durationMs'>): number {
  return error === null && durationMs <= QUICK_MS ? Math.min(MOST_SENDERS, limit + 1) : FEWEST_SENDERS
}
