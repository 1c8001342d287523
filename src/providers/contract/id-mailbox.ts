import type { MailboxBackfill } from './backfill.ts'
import type { MailDrafts } from './drafts.ts'
import type { MailEdits } from './edits.ts'
import type { LiveReads, RemoteFolder, RemoteMessage } from './message.ts'
import type { MailAccess, MailProviderBase } from './provider.ts'
import type { MailSearch } from './search.ts'

/** A mailbox whose messages keep one id in every folder: gmail, microsoft. */
export interface IdMailProvider extends MailProviderBase {
  readonly kind: 'mailbox'
  /** One per account, on the owning instance only. */
  openSession(access: MailAccess): MailboxSession
  liveReads(access: MailAccess): IdLiveReads
  /** Its requests go behind all others of the mailbox, and leave them a share of the quota. */
  backfill(access: MailAccess): MailboxBackfill
  edits(access: MailAccess): MailEdits<{ providerMessageId: string }>
  /** `folderPath`: the folder or label with the role `drafts`. */
  drafts(access: MailAccess, folderPath: string): MailDrafts
  /** Sends the next requests of an account at once, although the provider asked for a pause. */
  endPause(accountId: string): void
}

export interface IdLiveReads extends LiveReads<{ providerMessageId: string }> {
  /** Searches the mailbox in one request, and fetches what it found in as few as possible. */
  search(request: MailboxSearch): Promise<FoundPage>
}

/** Syncs one mailbox. Nothing stays connected between calls. */
export type KnownFolders = () => Promise<RemoteFolder[]>

export interface MailboxSession {
  /** How often to poll while no push channel reports changes. */
  readonly pollIntervalMs: number
  /**
   * Every label or folder, read from the provider. `path` is the provider's id, `name` what people read. Rejects when the signal aborts.
   * `known` returns the stored folders: those that the provider cannot list for now are returned as they are.
   */
  listFolders(signal?: AbortSignal, listKnown?: KnownFolders): Promise<RemoteFolder[]>
  /**
   * The parts of the mailbox that have a cursor of their own, most important first: for gmail the entire mailbox
   * (`ENTIRE_MAILBOX`), for microsoft each folder by its path.
   */
  scopes(folders: readonly RemoteFolder[]): string[]
  /**
   * Returns the scopes that may have changes, with far fewer requests than a `syncScope` of each. Call it before each round
   * with all synced scopes; `syncScope` then continues from the responses it received. A scope with a null or expired cursor
   * counts as changed. Absent where checking a scope costs as much as syncing it.
   */
  changedScopes?(scopes: readonly { scope: string; cursor: string | null }[], signal: AbortSignal): Promise<string[]>
  /**
   * Syncs a scope from `cursor` (null: first sync) in steps of at most 500 messages. A step's `cursor` is valid once the step is
   * stored, so a crash between steps repeats at most one. Throws `ProviderError`: `cursor_expired` when the cursor is too old
   * (call again with `comparison`), `not_found` when the scope was deleted.
   */
  syncScope(request: ScopeSyncRequest): AsyncIterable<MailboxStep>
  /**
   * Reads messages by their ids, in whatever folder of the last listing they are. Sync calls it before it deletes messages that left
   * their folder and were found in no other. At most 200 ids. Absent where the changes themselves are certain.
   */
  readMessages?(ids: readonly string[], signal: AbortSignal): Promise<ReadMessages>
  /** Reads messages again that were `failed` in a step. Throws only what concerns the entire account, such as a rate limit. */
  readAgain(request: ReadAgainRequest): Promise<ReadAgain>
  /** Twice safely. */
  close(): Promise<void>
}

export interface ReadMessages {
  found: FoundMessage[]
  /** Ids of messages that cannot be read now. All other ids that are not in `found` are deleted, or in no listed folder. */
  unknown: string[]
}

/** The scope of a provider with one cursor for the entire mailbox. */
export const ENTIRE_MAILBOX = '*'

export interface ScopeSyncRequest {
  scope: string
  cursor: string | null
  /** How many of the newest messages of the entire mailbox a first sync fetches. */
  initialMessages: number
  /** When the oldest stored message of the account arrived, in any scope; null when none is stored. */
  oldest(): Promise<number | null>
  /**
   * Given after a cursor expired while messages of the scope are stored: first with a null cursor, then with the cursor of the
   * last stored step until a sync completes. The provider compares the scope from the oldest stored message on, and its
   * steps say `refetched`. Ignored for a cursor that was not written by a comparison.
   */
  comparison?: Comparison
  control?: Control
  signal: AbortSignal
}

/**
 * The id of a stored message that was complete; null when none is. Whether the provider returns it shows whose fault it is when every
 * other message fails: that of the messages, or the provider's.
 */
export type Control = () => Promise<string | null>

export interface ReadAgainRequest {
  /** At most 50. */
  ids: readonly string[]
  control?: Control
  signal: AbortSignal
}

export interface ReadAgain {
  found: FoundMessage[]
  /** Ids of messages that no longer exist. */
  removed: string[]
  failed: FailedMessage[]
  /** The provider returned other messages, perhaps the control: what failed is the fault of these messages. */
  isReading: boolean
}

/** A message that the provider does not return, though it returns others, and what is known of it all the same. */
export interface FailedMessage {
  providerMessageId: string
  /** May be logged and shown: holds no words of the provider. */
  reason: string
  /** As in `RemoteMessage`. */
  isNew: boolean
  /** Given where only its time shows whether the message is new: it is if it was received later. */
  newSince?: number
  /** Paths of its folders or labels. */
  folders?: string[]
  threadId?: string
  receivedAt?: number
  unread?: boolean
  starred?: boolean
}

export interface Comparison {
  /** Stored messages of the scope, newest first: up to 500 after `after`, the last one of the previous page. */
  listStored(after?: KnownMailboxMessage): Promise<KnownMailboxMessage[]>
}

/** The parts of a stored message that a comparison needs. */
export interface KnownMailboxMessage {
  providerMessageId: string
  receivedAt: number
  unread: boolean
  starred: boolean
  /** Paths of its folders or labels. */
  folders: string[]
}

export interface MailboxStep {
  /** `found` comes from a comparison. A message that is not stored is new only if it arrived after the last sync; ignore its `isNew`. */
  refetched: boolean
  /** New or changed messages, complete. A stored one is updated in place. */
  found: FoundMessage[]
  /** Changes that need no fetch. Absent fields did not change; unknown ids are ignored. */
  changed: { providerMessageId: string; unread?: boolean; starred?: boolean; folders?: string[] }[]
  /** Ids that left the scope: deleted, or moved to a scope that will report them. May contain unknown ones. */
  removed: string[]
  /**
   * Messages that could not be read, or only in part: those are also in `found`. The cursor passes them, so store them with it, and read
   * them again with `readAgain`.
   */
  failed?: FailedMessage[]
  /** Opaque to everyone but the provider; text under 4 KB. */
  cursor: string
  /** With the last step of a first sync: messages received since then are synced, older ones are not; 0: all are. */
  storedSince?: number
}

export interface FoundMessage {
  message: RemoteMessage & { providerMessageId: string }
  /** Paths of its folders or labels. */
  folders: string[]
}

/** Words consist of letters, digits and marks in lower case, or are addresses. */
export interface MailboxSearch {
  search: MailSearch
  /** Path of a folder or label. Absent: anywhere, and providers may leave out trash and junk. */
  folder?: string
  /** At most 50. */
  limit: number
  /** `next` of the previous page. */
  page?: string
  signal: AbortSignal
}

export interface FoundPage {
  /** Newest first, at most `limit`. May contain messages that do not match every limit of the search: check what the message shows. */
  found: FoundMessage[]
  /** Null at the end. May lead to an empty page. */
  next: string | null
}
