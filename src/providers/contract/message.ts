import type { Readable } from 'node:stream'
import type { ByteRange } from '../../platform/concurrency/byte-stream.ts'

export type FolderRole = 'inbox' | 'sent' | 'drafts' | 'trash' | 'junk' | 'archive' | 'all' | 'flagged'

/** A folder, or a Gmail label. */
export interface RemoteFolder {
  /** The provider's id of the folder. For imap the decoded path: `INBOX`, `Projekte/Größe`. */
  path: string
  /** Its last segment where folders are nested. */
  name: string
  /** With the names of its parents, joined by `/`; absent: the same as `name`, for imap as `path`. */
  fullName?: string
  /** `#rrggbb`; null: none. Absent where the provider has no colours or does not list them. */
  color?: string | null
  delimiter: string | null
  role: FolderRole | null
  /** Managed by the provider although it has no role: Gmail's IMPORTANT, CATEGORY_PROMOTIONS. */
  system?: boolean
  selectable: boolean
  /** An id that survives a rename, where the server has one (for imap see `imap/folders/folders.ts`). */
  mailboxId: string | null
}

export interface RemoteAddress {
  name: string
  email: string
}

export interface RemoteAttachment {
  /** Stable within the message: the MIME part number for imap. */
  id: string
  filename: string
  contentType: string
  sizeBytes: number
  inline: boolean
  contentId: string | null
}

/** One message in this service's terms. The provider's `map.ts` has cleaned and bounded every text. */
export interface RemoteMessage {
  /** imap only; the other providers set `providerMessageId` instead. */
  location?: { uidValidity: string; uid: number }
  /** The provider's own id of the message; null where it has none but its location. */
  providerMessageId: string | null
  /** Arrived after the baseline of the first sync, so an event may announce it as new. */
  isNew: boolean
  /** EMAILID (OBJECTID) or X-GM-MSGID: the same for a message in every folder it is moved to. */
  emailId: string | null
  threadId: string | null
  messageId: string | null
  /** The value of `X-Posthorn-Id`, where the server may replace the Message-ID of what it sends. */
  sentToken?: string | null
  /** The provider's id of a draft, where it survives edits and the message's own id does not (gmail). */
  draftId?: string
  /** Its header is that of a report about the delivery of another message. */
  mayBeReport?: boolean
  /** A program wrote it without a person. */
  isAutomatic?: boolean
  /** It went to many readers, from a mailing list or as a newsletter, or a program wrote it. */
  isBulk?: boolean
  inReplyTo: string | null
  references: string[]
  subject: string
  from: RemoteAddress | null
  to: RemoteAddress[]
  cc: RemoteAddress[]
  bcc: RemoteAddress[]
  replyTo: RemoteAddress[]
  /** The Date header in ms; null when missing or unreadable. */
  date: number | null
  /** INTERNALDATE in ms. */
  receivedAt: number
  sizeBytes: number
  unread: boolean
  starred: boolean
  snippet: string
  /** The first 4 KB of text, for search. */
  text: string
  attachments: RemoteAttachment[]
  /** SHA-256 over the raw header block, in hex: identifies a message without Message-ID. */
  headerHash: string
  /**
   * SHA-256 of the header fields that the delivery added, in hex: equal in a copy, another in a message that was delivered twice. That
   * of an empty text for a message without such fields.
   */
  traceHash?: string
  /** Why parts of the message could not be fetched or parsed; the other fields hold what could. */
  error: string | null
  /** imap: the server returned nothing of the message but its flags, if `knowsFlags`, and `receivedAt`, if `knowsTime`. */
  unreadable?: { knowsFlags: boolean; knowsTime: boolean }
}

export interface MessageBody {
  text: string | null
  html: string | null
  headers: { name: string; value: string }[]
}

/**
 * Reads for API requests, straight from the provider. Each waits at most 10 s for a connection, then throws `ProviderError`
 * `unavailable` with `timedOut`. A message or attachment that does not exist is `not_found`.
 */
export interface LiveReads<Ref = unknown> {
  listFolders(): Promise<RemoteFolder[]>
  getBody(message: Ref): Promise<MessageBody>
  /** The message as stored at the provider. */
  openRaw(message: Ref): Promise<RemoteContent>
  openAttachment(message: Ref, attachmentId: string): Promise<RemoteFile>
}

/** The bytes of a message or an attachment, which stay at the provider until they are read. */
export interface RemoteContent {
  /** Exact; null when it is known only after reading them. */
  sizeBytes: number | null
  /**
   * Streams these bytes, by default all. Throws like the method that returned the content. The stream fails when the content ends
   * before `length` bytes. The caller must read or destroy it.
   */
  read(range?: ByteRange): Promise<Readable>
}

export interface RemoteFile extends RemoteContent {
  contentType: string
  filename: string
}

/** A first sync begins with a step of this many messages, because somebody waits for the first page of the list. */
export const FIRST_STEP = 50
