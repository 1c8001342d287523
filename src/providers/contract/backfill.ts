import type { FolderFetches } from './folder-mailbox.ts'
import type { Control, FailedMessage, FoundMessage } from './id-mailbox.ts'
import type { RemoteMessage } from './message.ts'

/** A read of backfill returns at most this many messages: the size of a transaction, and of the wait of other requests. */
export const BACKFILL_READ = 100

interface BackfillRange {
  /** Messages received earlier are left out. */
  sinceMs: number
  signal: AbortSignal
}

/**
 * Reads the mail that a folder had at its first sync, newest first, with as little effect on other requests as possible. What arrived
 * later is left to sync. `cursor` is sync's position: both methods throw `cursor_expired` when the folder's UIDVALIDITY differs from it,
 * and `not_found` when the folder was deleted.
 */
export interface FolderBackfill {
  /** May include messages of the day before the range. */
  count(request: FolderBackfillRange): Promise<number>
  /** May return no messages before the end. */
  read(request: FolderBackfillRequest): Promise<FolderBackfillPage>
}

interface FolderBackfillRange extends BackfillRange {
  path: string
  cursor: string
}

interface FolderBackfillRequest extends FolderBackfillRange, Partial<FolderFetches> {
  /** The `position` of the previous page; null: the beginning. */
  position: string | null
  limit: number
  /** Which of these UIDs are stored. They are not fetched. */
  findStored(uids: readonly number[]): Promise<ReadonlySet<number>>
}

interface FolderBackfillPage {
  messages: RemoteMessage[]
  /** Stored messages that were passed. */
  passed: number
  uidValidity: string
  /** Opaque to everyone but the provider; null at the end. */
  position: string | null
  /** Everything received since then has been returned. Later than any message while nothing is known. */
  reachedMs: number
}

/** The same for mailboxes whose messages have ids. `scope` is a folder, or `ENTIRE_MAILBOX`. */
export interface MailboxBackfill {
  /** Messages received before `beforeMs`. Null when counting would cost too much. */
  count(request: BackfillRange & { scope: string; beforeMs: number }): Promise<number | null>
  /** Messages received at `beforeMs` may be returned again. */
  read(request: MailboxBackfillRequest): Promise<MailboxBackfillPage>
}

export interface MailboxBackfillRequest extends BackfillRange {
  scope: string
  beforeMs: number
  limit: number
  /** When the stored ones of these messages were received. They need not be fetched. */
  findStored(providerMessageIds: readonly string[]): Promise<ReadonlyMap<string, number>>
  control?: Control
}

export interface MailboxBackfillPage {
  found: FoundMessage[]
  /** As in a step of sync. */
  failed?: FailedMessage[]
  /** Stored messages that were passed for the first time. */
  passed: number
  /** The `beforeMs` of the next read; null at the end. */
  nextMs: number | null
}
