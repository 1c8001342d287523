import { type Backoff, backoffMs } from '../../../platform/concurrency/retry.ts'
import type { SyncStateRow } from '../store.ts'

export interface RefusalTiming {
  /** Until the second attempt, which confirms that the credentials are wrong. */
  confirmMs: number
  /** Delays while they are. Long enough that no server locks the mailbox. */
  retry: Backoff
}

/** How often in a row the server has refused these credentials. Stored, so that a restart neither forgets nor repeats attempts. */
export interface Refusals {
  count: number
  accessVersion: number
}

/** A single refusal may be a mistake of the server, so two make `auth_error`. */
export const CONFIRMED = 2

/** The clocks of the plan and of the timer may differ a little. */
const EARLY_MS = 1000

/**
 * The refusals including one that just happened. New credentials begin a new count. An attempt before the planned one, which a request
 * caused, confirms nothing.
 */
export function countRefusal(stored: SyncStateRow | undefined, accessVersion: number, nowMs: number): Refusals {
  if (stored?.refusedVersion !== accessVersion) return { count: 1, accessVersion }
  const isEarly = confirmationInMs(stored, nowMs) > EARLY_MS
  return { count: stored.refusals + (isEarly ? 0 : 1), accessVersion }
}

export function isConfirmed({ count }: Pick<Refusals, 'count'>): boolean {
  return count >= CONFIRMED
}

export function delayAfterRefusal({ count }: Refusals, { confirmMs, retry }: RefusalTiming): number {
  return count < CONFIRMED ? confirmMs : backoffMs(count - CONFIRMED + 1, retry)
}

/** How long a refusal that is not confirmed waits for the second attempt; 0 without one. */
export function confirmationInMs(stored: SyncStateRow, nowMs: number): number {
  const isPending = stored.refusals > 0 && !isConfirmed({ count: stored.refusals })
  return isPending ? Math.max(0, (stored.nextRunAt ?? 0) - nowMs) : 0
}

/**
 * How long an account in `auth_error` waits until its next login; 0: no longer. Undefined when none is planned, as for accounts that an
 * earlier version stored.
 */
export function nextLoginInMs(stored: SyncStateRow | undefined, nowMs: number): number | undefined {
  if (stored === undefined || stored.nextRunAt === null || !isConfirmed({ count: stored.refusals })) return undefined
  return Math.max(0, stored.nextRunAt - nowMs)
}
