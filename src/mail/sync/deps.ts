import type { Accounts, Fence, Ownership } from '../../accounts/index.ts'
import type { Recorder } from '../../events/index.ts'
import type { Bus } from '../../platform/bus/index.ts'
import type { Db, Tx } from '../../platform/db/index.ts'
import type { Ids } from '../../platform/ids.ts'
import type { Log } from '../../platform/log/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import type { MailProvider, ProviderName } from '../../providers/contract/index.ts'
import type { FolderCounts } from '../labels/index.ts'
import type { BodyFetcher } from '../messages/index.ts'
import type { SyncTiming } from './timing.ts'

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
