import type { FolderRole } from '../../providers/contract/index.ts'

/** A Gmail label, a Graph folder or an IMAP folder. */
interface LabelTable {
  /** Does not change when the folder is renamed. */
  id: string
  accountId: string
  /** The provider's id; for imap the decoded path. */
  providerId: string
  /** The full name: the path for imap, otherwise the names of its parents and its own, joined by `/`. */
  name: string
  /** The last segment of the name, unless the API set another one. */
  displayName: string
  /** The last segment as the provider has it. When that changes, it replaces `displayName`. Null before the first listing. */
  providerName: string | null
  type: 'system' | 'user'
  role: FolderRole | null
  delimiter: string | null
  /** MAILBOXID (RFC 8474) where the server has it; recognises a renamed folder. */
  mailboxId: string | null
  selectable: number
  /**
   * Why sync includes the folder: `main:INBOX`, a role such as `sent`, `folder:Work` or `chosen` for imap, else `mailbox`. A rename
   * does not change it. Null: not synced; the API reads the folder live.
   */
  syncedAs: string | null
  /** Set over the API, or the provider's. */
  color: string | null
  /** As the provider has it. When that changes, it replaces `color`. */
  providerColor: string | null
  /** Incremented when the folder's messages or name change; the `version` of `mailbox.changed`. */
  version: number
  createdAt: number
  updatedAt: number
}

declare module '../../platform/db/db.ts' {
  interface Tables {
    labels: LabelTable
  }
}
