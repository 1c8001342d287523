import type { Generated } from 'kysely'

/**
 * One message. The columns are what the service filters, sorts or matches by; `fields` (JSON of MessageFields) holds
 * everything else the API returns. The labels of a message are rows of `messageLabels`.
 */
interface MessageTable {
  id: string
  accountId: string
  /** Unique per account for providers with message ids, that is, in rows without `uidValidity`. */
  providerMessageId: string
  threadId: string | null
  /** Label id of the message's folder; null for a Gmail message that has only labels. */
  folderId: string | null
  /** IMAP only; unique together with the folder and the UID. */
  uidValidity: string | null
  /** Null while the message has no known location: it is missing, or its folder has a new UIDVALIDITY. */
  uid: number | null
  /** These three recognise a moved message. They are hashes, so that index entries have a bounded size. Here: the EMAILID. */
  emailIdHash: string | null
  /** Hash of (Message-ID, INTERNALDATE). Rows of earlier versions: also of the size. */
  identityHash: string | null
  /** Hash of the header block. */
  headerHash: string
  /** Hash of the header fields that the delivery added. Null in rows of earlier versions, and where the provider has ids. */
  traceHash: string | null
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
  /** Which part of the message could not be read or stored. */
  error: string | null
  /** The version of the reader that tried again to read a message with an error. Null: none. */
  reader: number | null
  /** When the message left its folder; null while it is present. A missing message may still appear in another folder. */
  goneAt: number | null
  /** Number of the latest change made through the API (see `apiChanges`); null: none. */
  apiChange: number | null
  /** How often sync has read the message and found it as it is stored: a change through the API that began before may be older. */
  confirmations: number
  version: number
  createdAt: number
  updatedAt: number
}

/** Bodies stored because of `sync.storeBodies`. */
interface MessageBodyTable {
  messageId: string
  accountId: string
  /** JSON of MessageBody; null until the body has been fetched. */
  body: string | null
  /** Number of failed fetches. */
  attempts: number
}

/**
 * The labels of each message, in list order: newest first. Primary key (labelId, receivedAt, messageId).
 * For gmail and microsoft the account's id is one more label (`allMail`).
 * `unread` and `hasAttachments` repeat the message's columns, so that a filter does not read the messages it excludes.
 */
interface MessageLabelTable {
  labelId: string
  receivedAt: number
  messageId: string
  unread: number
  hasAttachments: number
}

/** How many messages have a label, updated in the transaction that changes it. */
interface MessageCounterTable {
  accountId: string
  labelId: string
  total: number
  unread: number
  /** How many threads have such messages. */
  threads: Generated<number>
}

/** The threads that have messages with a label, for lists of threads: primary key (labelId, threadId). */
interface ThreadLabelTable {
  labelId: string
  threadId: string
  /** When the newest of these messages was received. */
  lastReceivedAt: number
  /** How many of the thread's messages have the label. */
  messages: number
}

/**
 * The Message-IDs of messages without a thread of their provider, and those that these messages name: see `threads/references.ts`.
 * Primary key (accountId, reference).
 */
interface ThreadReferenceTable {
  accountId: string
  /** Hash of the Message-ID. */
  reference: string
  /** As of when the row was written: `threadMerges` says where that thread is now. */
  threadId: string
  /** 0: no message with this Message-ID was ever stored. */
  isStored: number
}

/** How far back a folder, or a mailbox that syncs as one, is stored. No row: not known. Primary key (accountId, scopeId). */
interface MailHorizonTable {
  accountId: string
  /** The label's id, or the account's when the entire mailbox is one scope. */
  scopeId: string
  /**
   * Messages received before may be at the provider only; 0: every message is stored. The highest integer for imap folders with older
   * messages, because UIDs are not in the order of time.
   */
  storedSince: number
}

/** Threads whose messages belong to another one. Kept, so that their ids continue to work. */
interface ThreadMergeTable {
  threadId: string
  accountId: string
  intoThreadId: string
  /** 1 while messages are left to be moved. */
  isPending: number
}

/**
 * The part of a message that lists return: JSON that `storedText` made of its rows, written in the transaction that changes them.
 * Messages stored by a version without this table get their row when a list first needs it.
 */
interface MessageTextTable {
  messageId: string
  /** As in `messages`. The name of the folder is added when the text is read, because a rename changes it. */
  folderId: string | null
  text: string
}

/** Ids of messages that this service creates: see `ingest/reserved.ts`. */
interface ReservedMessageTable {
  accountId: string
  /** Hash of a `ReservationKey`. */
  key: string
  messageId: string
  as: 'draft' | 'sent'
  createdAt: number
}

/** The messages in Drafts folders: see `rows/draft-keys.ts`. A message that has left its folder keeps its row until it is deleted. */
interface DraftTable {
  messageId: string
  accountId: string
  /** Hash of what all versions of the draft share: the provider's id of the draft, or the Message-ID. */
  key: string
  /** Gmail's id of the draft; null where the provider has none but the message's. */
  providerDraftId: string | null
}

/** The queue of the search index: messages that were added, rewritten or removed since they were indexed. */
interface UnindexedMessageTable {
  id: Generated<number>
  accountId: string
  messageId: string
}

declare module '../../platform/db/db.ts' {
  interface Tables {
    messages: MessageTable
    messageBodies: MessageBodyTable
    messageLabels: MessageLabelTable
    messageCounters: MessageCounterTable
    messageTexts: MessageTextTable
    threadLabels: ThreadLabelTable
    threadReferences: ThreadReferenceTable
    threadMerges: ThreadMergeTable
    mailHorizons: MailHorizonTable
    reservedMessages: ReservedMessageTable
    drafts: DraftTable
    unindexedMessages: UnindexedMessageTable
  }
}
