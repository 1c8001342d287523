import type { Backoff } from '../../platform/concurrency/retry.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { LoginPaceLimits } from './hosts/login-pace.ts'
import type { RefusalTiming } from './hosts/refused-logins.ts'

/** When accounts are synced, and when what failed is repeated. Polls of Gmail and Microsoft: `polling.ts` of the provider. */
export interface SyncTiming extends LoginPaceLimits {
  /** Interval between two full syncs of an IMAP account, and between two polls of an unwatched account. */
  pollMs: number
  /** Interval between two polls of a mailbox with push notifications. */
  pushedMs: number
  /** Interval between two label listings of a mailbox that syncs as one. A message with an unknown label triggers one at once. */
  foldersMs: number
  /** How long a message missing from its folder may take to appear in another one before it counts as deleted. */
  moveGraceMs: number
  /**
   * The same for IMAP folders. Programs that sync one folder after another, as OfflineIMAP and mbsync do, delete a message from its folder
   * before they append it to another one, if its folder comes first.
   */
  folderMoveGraceMs: number
  /** How many accounts one process syncs at once. */
  concurrency: number
  /** Share of `concurrency` that accounts of one host may use, so that a host that hangs does not block the others. */
  perHostShare: number
  /** A connection that receives nothing for this long during a sync is closed when a person requests another sync. */
  silentMs: number
  /** Consecutive failures after which the account gets the status `error`. */
  stalledAfter: number
  /** An account without a successful check for this long, and for three poll intervals, counts as stalled. */
  stalledAfterMs: number
  /** Delay after consecutive failures. */
  retry: Backoff
  /** Delay after a server exceeded a limit, because it will probably do so again. Survives restarts. */
  limitRetry: Backoff
  /** Delay after consecutive failures of a single message or folder. */
  itemRetry: Backoff
  /** When a refused login is repeated. */
  refusal: RefusalTiming
}

export const DEFAULT_TIMING: SyncTiming = {
  pollMs: 60_000,
  pushedMs: 600_000,
  foldersMs: 300_000,
  moveGraceMs: 2_000,
  folderMoveGraceMs: 10_000,
  concurrency: 64,
  perHostShare: 0.4,
  loginBurst: 50,
  loginsPerSecond: 100,
  silentMs: 3_000,
  stalledAfter: 3,
  stalledAfterMs: 180_000,
  retry: { baseMs: 1000, capMs: 300_000 },
  limitRetry: { baseMs: 600_000, capMs: 86_400_000 },
  itemRetry: { baseMs: 10_000, capMs: 6 * 3_600_000 },
  refusal: { confirmMs: 20_000, retry: { baseMs: 60_000, capMs: 6 * 3_600_000 } },
}

/** When an item that failed is tried again. */
export function itemRetryPlan({
  clock,
  timing,
}: {
  clock: Clock
  timing?: Partial<SyncTiming> | undefined
}): RetryPlan {
  return { nowMs: clock.now(), backoff: timing?.itemRetry ?? DEFAULT_TIMING.itemRetry }
}

export interface RetryPlan {
  nowMs: number
  backoff: Backoff
}
