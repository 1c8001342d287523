/**
 * One message. What is filtered, sorted or matched is a column; everything else the API shows is in `fields` (JSON of
 * MessageFields). The labels it carries are rows of `messageLabels`.
 */
interface MessageTable {
  id: string
  accountId: string
  /** Unique in the account where mails have an id of their own: rows without `uidValidity`. */
  providerMessageId: string
  threadId: string | null
  /** Label id of the folder it stands in; null where it has only labels. */
  folderId: string | null
  /** IMAP only, unique together with the folder. Null uid while the row has lost its place. */
  uidValidity: string | null
  uid: number | null
  /** What recognises the same mail elsewhere, hashed (bounded index entries): EMAILID; (Message-ID, INTERNALDATE, size); header block. */
  emailIdHash: string | null
  identityHash: string | null
  headerHash: string
  subject: string
  receivedAt: number
  unread: number
  starred: number
  hasAttachments: number
  sizeBytes: number
  snippet: string
  /** The first 4 KB of text, for search. */
  text: string
  fields: string
  /** What could not be read; null when all is well. */
  error: string | null
  /** When it vanished from its folder, while it may still turn up in another (a move); null while present. */
  goneAt: number | null
  version: number
  createdAt: number
  updatedAt: number
}

/** The body of a message, where `sync.storeBodies` keeps it. */
interface MessageBodyTable {
  messageId: string
  accountId: string
  /** JSON of MessageBody; null while it is still to be read. */
  body: string | null
  /** Times it could not be read. */
  attempts: number
}

/**
 * Which message carries which label, ordered as lists are: newest first. Primary key (labelId, receivedAt, messageId). For
 * gmail and microsoft "all mail" is one more label, under the account's id (`allMail`).
 * What lists filter by stands here too, so that a filter never reads the messages it leaves out.
 */
interface MessageLabelTable {
  labelId: string
  receivedAt: number
  messageId: string
  unread: number
  hasAttachments: number
}

/** How many messages carry a label, kept in the transaction of the change. */
interface MessageCounterTable {
  accountId: string
  labelId: string
  total: number
  unread: number
}

declare module '../../infra/db/db.ts' {
  interface Tables {
    messages: MessageTable
    messageBodies: MessageBodyTable
    messageLabels: MessageLabelTable
    messageCounters: MessageCounterTable
  }
}
