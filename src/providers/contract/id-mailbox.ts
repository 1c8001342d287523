import type { RemoteFolder, RemoteMessage } from './provider.ts'

/**
 * A mailbox whose mails have an id of their own wherever they stand: gmail, microsoft. (Those of imap are known by their place in a
 * folder: `FolderSession`.) Stateless at the provider: nothing is connected between calls.
 */
export interface MailboxSession {
  /** How often to ask for changes while nothing tells of them. */
  readonly pollIntervalMs: number
  /** Every label or folder, fresh from the provider; `path` is the provider's id of it, `name` what people read. */
  listFolders(): Promise<RemoteFolder[]>
  /**
   * What is brought forward with a cursor of its own: gmail the whole mailbox (`ENTIRE_MAILBOX`), microsoft each folder by its
   * path. Most important first.
   */
  scopes(folders: readonly RemoteFolder[]): string[]
  /**
   * Which of these scopes may have something to bring, for far fewer requests than `syncScope` of each: call it before every round
   * with all that are kept in step. What was answered along the way is where `syncScope` then begins. One whose cursor is null or has
   * expired counts as changed. Absent where a scope costs no more to bring forward than to ask about.
   */
  changedScopes?(scopes: readonly { scope: string; cursor: string | null }[], signal: AbortSignal): Promise<string[]>
  /**
   * Brings a scope forward from `cursor` (null: first sync) in steps of at most 500 messages; each step's `cursor` is
   * valid once the step is stored, so a crash between steps repeats at most one. Throws `ProviderError`: `cursor_expired` when the
   * cursor is too old (then it is called again with `comparing`), `not_found` when the scope is gone.
   */
  syncScope(request: ScopeSyncRequest): AsyncIterable<MailboxStep>
  close(): Promise<void>
}

/** The scope of a provider that has one cursor for all of a mailbox. */
export const ENTIRE_MAILBOX = '*'

export interface ScopeSyncRequest {
  scope: string
  cursor: string | null
  /** How many of the newest messages of the whole mailbox a first sync fetches. */
  initialMessages: number
  /** When the oldest stored mail of the account arrived, of whatever scope; null while there is none. */
  oldest(): Promise<number | null>
  /**
   * Given when an earlier cursor expired and mails of the scope are stored: with a null cursor at first, and until a pass has ended
   * well also with the cursor of the last step stored, which then says how far it got. The scope is compared as a whole,
   * everything from the oldest stored message on. Steps then say `refetched`. A cursor that knows of no comparison wins over this.
   */
  comparison?: Comparison
  signal: AbortSignal
}

export interface Comparison {
  /** What is stored of the scope, newest first, up to 500 behind `after` (the last of the page before). */
  known(after?: KnownMailboxMessage): Promise<KnownMailboxMessage[]>
}

export interface KnownMailboxMessage {
  providerMessageId: string
  receivedAt: number
  unread: boolean
  starred: boolean
  /** Paths of the folders or labels it carries. */
  folders: string[]
}

export interface MailboxStep {
  /** `found` comes of a comparison: one that is not stored is new only if it arrived after the last sync; `isNew` says nothing. */
  refetched: boolean
  /** New or changed mails, whole. One stored already is updated in place. */
  found: FoundMessage[]
  /** Changes of mails that need no second look; unknown ids are passed over. What is absent is as before. */
  changed: { providerMessageId: string; unread?: boolean; starred?: boolean; folders?: string[] }[]
  /** Ids that left the scope: deleted, or moved to one that will bring them. May name unknown ones. */
  removed: string[]
  /** Opaque to everyone but the provider; text under 4 KB. */
  cursor: string
}

export interface FoundMessage {
  message: RemoteMessage & { providerMessageId: string }
  /** Paths of the folders or labels it carries. */
  folders: string[]
}
