import type { FolderRole } from '../../providers/contract/index.ts'

/** A Gmail label, a Graph folder or an IMAP folder. The id is stable over a rename. */
interface LabelTable {
  id: string
  accountId: string
  /** The provider's id: the decoded path for imap. */
  providerId: string
  name: string
  displayName: string
  type: 'system' | 'user'
  role: FolderRole | null
  delimiter: string | null
  /** OBJECTID's MAILBOXID where known: recognises a rename. */
  mailboxId: string | null
  selectable: number
  /**
   * The wish that keeps it in step: `main:INBOX`, `sent`, `drafts`, `folder:Work`; it outlives a rename. `mailbox` where all of
   * them are. Null: read live.
   */
  syncedAs: string | null
  color: string | null
  /** +1 per change in the folder's content or name; the `version` of `mailbox.changed`. */
  version: number
  createdAt: number
  updatedAt: number
}

declare module '../../infra/db/db.ts' {
  interface Tables {
    labels: LabelTable
  }
}
