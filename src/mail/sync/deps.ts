import type { Accounts, Fence, Ownership } from '../../accounts/index.ts'
import type { Recorder } from '../../events/index.ts'
import type { Bus } from '../../platform/bus/index.ts'
import type { Backoff } from '../../platform/concurrency/retry.ts'
import type { Db, Tx } from '../../platform/db/index.ts'
import type { Ids } from '../../platform/ids.ts'
import type { Log } from '../../platform/log/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { MailProvider, ProviderName } from '../../providers/contract/index.ts'
import type { FolderCounts } from '../labels/index.ts'
import type { BodyFetcher } from '../messages/index.ts'
import type { LoginPaceLimits } from './hosts/login-pace.ts'
import type { RefusalTiming } from './hosts/refused-logins.ts'

export interface SyncSettings {
  /** How many of the newest messages the first sync of a folder stores. */
  initialMessages: number
  /** Paths of folders to sync besides the main folder and those with a role; `own` leaves out those with a role. */
  folders: readonly string[]
  /** Include message bodies in events. */
  includeBodies: boolean
}

/** An account and the epoch of its ownership by this process. */
export interface OwnedAccount {
  accountId: string
  epoch: number
  provider: ProviderName
  /** When this process last had every folder in sync; 0 for never. The stored time may be an hour older. */
  syncedAt(): number
  /** Called after each transaction that stored changes, for the log entry of the run. */
  onStored(counts: FolderCounts): void
}

export interface SyncDeps {
  db: Db
  bus: Bus
  accounts: Pick<
    Accounts,
    'getForSync' | 'access' | 'setStatus' | 'synced' | 'clearSyncRequest' | 'endTokenPause' | 'markStalled'
  >
  ownership: Ownership
  fence: Fence
  events: Recorder
  /** Undefined for a provider that is not configured. */
  mail(provider: ProviderName): MailProvider | undefined
  /** Requests the bodies of messages just stored. Set where bodies are stored. */
  requestBodies?: BodyFetcher['request']
  /** Requests that received messages be read that are perhaps reports about the delivery of sent ones. */
  requestReports(tx: Tx, accountId: string, messageIds: readonly string[]): Promise<void>
  /** Without it, every mailbox is polled. */
  push?: PushNotifications
  /** Called after each run of an account, for the metrics. */
  onRun?(accountId: string, provider: ProviderName, outcome: RunOutcome): void
  settings: SyncSettings
  clock: Clock
  ids: Ids
  log: Log
  timing?: Partial<SyncTiming>
}

/**
 * `retrying`: failed, with a next run. `stalled`: so often that the account's status says so. `refused`: needs new credentials.
 * `paused`: did not run.
 */
export type RunOutcome = 'succeeded' | 'retrying' | 'stalled' | 'refused' | 'paused'

/** The push notifications of providers, as sync sees them. */
interface PushNotifications {
  /** Whether the provider pushes changes of this mailbox, so that polls are only a safety net. */
  isPushed(accountId: string): boolean
  /** Calls the listener with an owned account whose notifications may have been lost, or that lost its push channel. */
  onSyncNeeded(listener: (accountId: string) => void): void
}

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
export function itemRetryPlan({ clock, timing }: Pick<SyncDeps, 'clock' | 'timing'>): RetryPlan {
  return { nowMs: clock.now(), backoff: timing?.itemRetry ?? DEFAULT_TIMING.itemRetry }
}

export interface RetryPlan {
  nowMs: number
  backoff: Backoff
}
