import type { FolderBackfill } from './backfill.ts'
import type { MailDrafts } from './drafts.ts'
import type { MailEdits } from './edits.ts'
import type { ProviderError } from './errors.ts'
import type { LiveReads, RemoteFolder, RemoteMessage } from './message.ts'
import type { MailAccess, MailProviderBase } from './provider.ts'
import type { MailSearch } from './search.ts'

/** A mailbox whose messages are known by folder, UIDVALIDITY and UID: imap. */
export interface FolderMailProvider extends MailProviderBase {
  readonly kind: 'folders'
  /** Opens the sync connection of an account. One per account, on the owning instance only. */
  openSession(access: MailAccess, events: SessionEvents, signal: AbortSignal): Promise<FolderSession>
  /** Uses the account's request connection, never the sync connection. It closes after 30 s without work. */
  liveReads(access: MailAccess): FolderLiveReads
  /** Uses the request connection, too. */
  backfill(access: MailAccess): FolderBackfill
  /** Uses the request connection, too. */
  edits(access: MailAccess): MailEdits<MessageLocation>
  /** Uses the request connection, too. `folderPath`: the folder with the role `drafts`. */
  drafts(access: MailAccess, folderPath: string): MailDrafts
}

export interface SessionEvents {
  /** This folder may have changed. Undefined: any folder may have. */
  onChange(folderPath: string | undefined): void
  /** The connection ended and will not come back. Called once, also when the watchdog finds a half-open socket. */
  onClose(error: ProviderError | undefined): void
}

export interface FolderSession {
  /**
   * Every folder, read from the server. Rejects at once when the signal aborts; `close` then ends the command. `expected`: how many
   * folders there were last, where that is known; the states of a few folders come with their names.
   */
  listFolders(signal?: AbortSignal, expected?: number): Promise<RemoteFolder[]>
  /**
   * Compares each folder's state with its cursor and returns the paths that may have changed. The states come from a `listFolders`
   * just before where it returned them; what the server has not noticed yet of the watched folder, `onChange` reports afterwards.
   * Leaves out folders that no longer exist; `listFolders` shows those.
   */
  changedFolders(folders: readonly { path: string; cursor: string | null }[]): Promise<string[]>
  /**
   * Syncs a folder from `cursor` (null: first sync) in steps of at most 500 messages; a first sync begins with one of 50. A message that
   * the server does not return is `unreadable` and passed. A step's `cursor` is valid once the step is stored, so a crash between steps repeats at most one. On a watched folder the first step holds
   * the new messages, after one round trip. Throws `ProviderError`: `cursor_expired` when only a new first sync can help, `not_found`
   * when the folder was deleted. One call at a time per session; a consumer that stops early ends it.
   */
  syncFolder(request: FolderSyncRequest): AsyncIterable<FolderStep>
  /**
   * Which of these UIDs the folder still contains: distinguishes a move from a copy. Undefined when that is not known: its UIDVALIDITY
   * changed, or no folder has this path, because it was deleted or renamed. Not to be called while a `syncFolder` iteration is open.
   */
  presentUids(folderPath: string, uidValidity: string, uids: readonly number[]): Promise<number[] | undefined>
  /** Bytes received so far for this account. Unchanged during a request: the connection may be dead. Does not reject. */
  receivedBytes(): number | Promise<number>
  /**
   * Keeps this folder selected and calls `onChange` within milliseconds of a change. Polls servers without IDLE. Returns which of the two
   * it does.
   */
  watch(folderPath: string): Promise<FolderWatch>
  /** Twice safely. */
  close(): Promise<void>
}

export type FolderWatch = 'idle' | 'poll'

export interface FolderSyncRequest extends Partial<FolderFetches> {
  path: string
  cursor: string | null
  /** How many of the newest messages a first sync fetches. */
  initialMessages: number
  /** Stored messages of this folder with `lowUid` ≤ uid ≤ `highUid`, in any order. Asked when the server cannot say what changed. */
  listStored(lowUid: number, highUid: number): Promise<KnownFolderMessage[]>
  /** Some of the stored messages with the highest UIDs, without those that could not be read. */
  newest(): Promise<{ uid: number; identity: MessageIdentity }[]>
  /** Backfill has stored messages down to this UID: compares the folder from there, and syncs their changes from then on. */
  compareFrom?: number
  /** When the folder is read again: what arrived since then is not stored, and may be more than was. Absent in a first sync. */
  missedSinceMs?: number
  /** How many messages of this folder are stored. After a reset at least as many are fetched again. */
  knownCount(): Promise<number>
  signal: AbortSignal
}

/**
 * Earlier failures to fetch messages of a folder. A message on which the connection ends must cost only itself: the provider fetches fewer
 * messages after each loss, until it is the only one.
 */
export interface FolderFetches {
  /** How often in a row the connection was lost while the folder was read. */
  losses: number
  /** Messages that failed before. They are not fetched, and returned as `unreadable`. */
  failing: readonly { uidValidity: string; uid: number }[]
  /** The UID of a stored and complete message of the folder, which shows whether the server returns messages at all. Null: there is none. */
  control(): Promise<number | null>
  /**
   * Called before a message is fetched by itself because the connection may end with it. Resolves once that is stored.
   */
  suspect(message: SuspectMessage): Promise<void>
}

export interface SuspectMessage {
  uid: number
  uidValidity: string
  isNew: boolean
  /** The server has returned another message since the connection was opened. */
  isReading: boolean
}

/** The parts of a stored message that a comparison needs. */
export interface KnownFolderMessage {
  uid: number
  unread: boolean
  starred: boolean
}

export interface FolderStep {
  /** UIDVALIDITY changed: forget the location of every stored message of the folder before applying this step. */
  reset: boolean
  /**
   * `added` was fetched again after a reset, in this step or an earlier one. A message that matches no stored row is new only
   * if it arrived after the last sync; ignore its `isNew`.
   */
  refetched: boolean
  added: RemoteMessage[]
  changed: { uid: number; unread: boolean; starred: boolean }[]
  /** UIDs no longer in the folder. May contain unknown ones. */
  removed: number[]
  /** Opaque to everyone but the provider; JSON text under 2 KB. */
  cursor: string
  /** Number of messages in the folder at the server, for progress. */
  total: number
  /** With the last step of a first sync: whether the folder has messages that are older than the synced ones. */
  hasOlder?: boolean
}

export interface MessageLocation {
  folderPath: string
  uidValidity: string
  uid: number
  /** Reading and changing another message is `not_found`. Absent when nothing is known of the message. */
  identity?: MessageIdentity
}

/** Shows that the message with a UID is the stored one: a server that was restored from a backup gives a UID twice. */
export interface MessageIdentity {
  messageId: string | null
  receivedAt: number
}

export interface FolderLiveReads extends LiveReads<MessageLocation> {
  /**
   * Lists a folder that is not synced, highest UID first. Use `beforeUid` for deep pages; `offset` skips that many of the
   * newest. Throws `not_found` for an unknown folder. With `search`: only messages that the server finds; `rejected` when it refuses
   * to search. Whether a message has attachments is then decided by its content type.
   */
  listMessages(
    folderPath: string,
    options: { limit: number; beforeUid?: number; offset?: number; search?: MailSearch },
  ): Promise<{ messages: RemoteMessage[]; total: number }>
  /** One message as `listMessages` returns it. Throws `not_found`. */
  readMessage(message: MessageLocation): Promise<RemoteMessage>
  /** Describes a message without its content, as `unreadable`. Throws `not_found` when another UIDVALIDITY is known. */
  describeMessage(message: MessageLocation): Promise<RemoteMessage>
}
