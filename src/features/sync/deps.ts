import type { Recorder } from '../../events/index.ts'
import type { Bus } from '../../infra/bus/index.ts'
import type { Db } from '../../infra/db/index.ts'
import type { Log } from '../../infra/log/index.ts'
import type { Clock } from '../../lib/clock.ts'
import type { Ids } from '../../lib/ids.ts'
import type { Backoff } from '../../lib/retry.ts'
import type { MailProvider, ProviderName } from '../../providers/contract/index.ts'
import type { Accounts, Fence, Ownership } from '../accounts/index.ts'
import type { BodyFetcher } from '../messages/index.ts'

export interface SyncSettings {
  /** How many of the newest messages the first sync of a folder stores. */
  initialMessages: number
  /** Folders kept in step beside the account's own, Sent and Drafts. */
  folders: readonly string[]
  /** Put the bodies of messages into their events. */
  includeBodies: boolean
}

/** An account under the epoch in which this process owns it. */
export interface OwnedAccount {
  accountId: string
  epoch: number
  provider: ProviderName
  /** When this process last had every folder in sync, 0 for never: what is stored may be an hour older. */
  syncedAt(): number
}

export interface SyncDeps {
  db: Db
  bus: Bus
  accounts: Pick<Accounts, 'getForSync' | 'access' | 'setStatus' | 'synced' | 'clearSyncRequest'>
  ownership: Ownership
  fence: Fence
  events: Recorder
  /** The provider's mail side; undefined for one that is not set up. */
  mail(provider: ProviderName): MailProvider | undefined
  /** Requests the bodies of messages just stored. Set where bodies are stored. */
  requestBodies?: BodyFetcher['request']
  /** Absent: every mailbox is polled. */
  push?: PushNotifications
  settings: SyncSettings
  clock: Clock
  ids: Ids
  log: Log
  timing?: Partial<SyncTiming>
}

/** What sync has to know about the notifications of providers. */
export interface PushNotifications {
  /** Whether the provider notifies us of changes in this mailbox, so that polls are only a safety net. */
  isPushed(accountId: string): boolean
  /** Calls the listener for an account of this process that may have missed changes, or must be polled from now on. */
  onSyncNeeded(listener: (accountId: string) => void): void
}

export interface SyncTiming {
  /** Between two looks at every folder of an account. Where nothing stands open: of one that is not watched. */
  pollMs: number
  /** Between two looks at a mailbox whose provider tells of changes. */
  pushedMs: number
  /** Between two listings of the labels of a mailbox that is one scope; a mail with an unknown label asks for one at once. */
  foldersMs: number
  /** How long a mail that left its folder may take to turn up in another before it counts as deleted. */
  moveGraceMs: number
  /** How many accounts one process syncs at once. */
  concurrency: number
  /** The part of that which accounts of one host may take: a host that hangs must not stop the others. */
  perHostShare: number
  /** Failures in a row after which an account counts as stalled. */
  stalledAfter: number
  /** Delays after failures in a row. */
  retry: Backoff
}

export const DEFAULT_TIMING: SyncTiming = {
  pollMs: 60_000,
  pushedMs: 600_000,
  foldersMs: 300_000,
  moveGraceMs: 2_000,
  concurrency: 64,
  perHostShare: 0.4,
  stalledAfter: 3,
  retry: { baseMs: 1000, capMs: 300_000 },
}
