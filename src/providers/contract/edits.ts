import type { ProviderError } from './errors.ts'
import type { RemoteFolder } from './message.ts'

/** A change of one message. Absent members stay as they are; a change without any returns the current state. */
export interface MessageChange<Ref = unknown> {
  message: Ref
  unread?: boolean
  starred?: boolean
  /** Paths of the labels to add. Where a message is in exactly one folder: the folder to move it to. */
  add?: readonly string[]
  /** Paths of the labels to remove. Ignored where a message is in exactly one folder. */
  remove?: readonly string[]
}

/** A message at the provider after a change. */
export interface ChangedMessage {
  unread: boolean
  starred: boolean
  /** Paths of its folders or labels, all of them. */
  folders: string[]
  /** imap: where the message is now. Null after a move of which the server did not report the new UID. */
  location?: { uidValidity: string; uid: number } | null
}

/**
 * Changes messages at the provider. Requests wait as live reads do. Each method takes at most 500 messages and returns one result
 * for each, in order; a `ProviderError` is the result of that message only, `not_found` when it does not exist. It rejects for
 * nothing that happens at the provider. Every change may be repeated: one that is already made succeeds.
 * After an error other than `not_found` and `rejected`, the change may or may not have been made.
 */
export interface MailEdits<Ref = unknown> extends FolderEdits {
  /** Names each message once. */
  changeMessages(changes: readonly MessageChange<Ref>[]): Promise<(ChangedMessage | ProviderError)[]>
  /**
   * Deletes messages for good. A message that does not exist counts as deleted, except for imap: it is `not_found` there, because
   * it may have moved to another folder.
   */
  deleteMessages(messages: readonly Ref[]): Promise<('deleted' | ProviderError)[]>
}

/** A folder or label to change, or a parent. */
export interface FolderRef {
  path: string
  /** As in `RemoteFolder`; for imap the path. */
  fullName: string
}

/** Where a folder is, or shall be: `name` is one segment; a null parent is the top. */
export interface FolderPosition {
  name: string
  parent: FolderRef | null
}

/** Changes folders and labels at the provider. Throws `ProviderError`: `exists` when another folder has the name. */
export interface FolderEdits {
  /** Creates a folder, with the nearest colour that the provider has. */
  createFolder(position: FolderPosition, color?: string): Promise<RemoteFolder>
  /** Renames or moves a folder; those below it follow. Returns its new path. */
  moveFolder(folder: FolderRef, to: FolderPosition): Promise<string>
  /** Sets the nearest colour that the provider has; null removes it. Returns what was set; null also where folders have no colours. */
  colorFolder(folder: FolderRef, color: string | null): Promise<string | null>
  /** A folder that does not exist counts as deleted. Its messages go where the provider puts them. */
  deleteFolder(folder: FolderRef): Promise<void>
}

/** The results of messages that all failed for the same reason. */
export function failedEach(items: readonly unknown[], error: ProviderError): ProviderError[] {
  return items.map(() => error)
}
