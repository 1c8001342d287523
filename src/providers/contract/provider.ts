import type { ConnectTarget } from '../../infra/net/index.ts'
import type { MailboxSession } from './id-mailbox.ts'
import type { LoginProvider } from './login.ts'
import type { PushProvider } from './push.ts'

/**
 * The contract every mailbox provider keeps. Providers know no database and no routes: what they need comes in as a
 * `MailAccess`, what they find goes out in this file's terms, and each provider's `map.ts` alone knows both vocabularies.
 */
export type ProviderName = 'gmail' | 'microsoft' | 'imap'

export interface Provider {
  readonly name: ProviderName
  readonly mail: MailProvider
  /** Absent where people sign in with a password. */
  readonly login?: LoginProvider
  readonly push?: PushProvider
}

/** Everything needed to reach one mailbox. Secrets are open here: never log it, never keep it longer than the call. */
export interface MailAccess {
  accountId: string
  email: string
  settings: MailSettings
  secrets: MailSecrets
  /**
   * For OAuth providers: a token that works for a minute at least, refreshed and stored when it must be, once for all
   * replicas. `refused` names one that the provider just refused. Throws `ProviderError`: `auth_expired` when only a new consent
   * can help, else something temporary.
   */
  accessToken?(refused?: string): Promise<string>
}

/** How the mailbox is reached. For imap; OAuth providers add theirs. */
export interface MailSettings {
  imap?: ImapSettings
  /** What was given for sending; the rest is derived from the IMAP settings and probed at the first send. */
  smtp?: Partial<SmtpSettings>
  caldav?: CaldavSettings
}

export interface ImapSettings extends ConnectTarget {
  username: string
  /** `tls` from the first byte, or `starttls` on a plain port. Never plain text. */
  security: 'tls' | 'starttls'
  allowSelfSigned: boolean
  /** Path of the folder to synchronise. */
  mailbox: string
}

export interface SmtpSettings extends ConnectTarget {
  username: string
  security: 'tls' | 'starttls'
}

export interface CaldavSettings {
  url: string
  /** Absent: the IMAP user name. */
  username?: string
}

export interface MailSecrets {
  password?: string
  /** Absent: the same password. */
  smtpPassword?: string
  caldavPassword?: string
}

export type MailProvider = FolderMailProvider | IdMailProvider

interface MailBase {
  /** Connects, logs in, looks at the mailbox, hangs up. Throws `ProviderError`. At most 10 s. */
  verify(access: MailAccess, signal: AbortSignal): Promise<{ folders: RemoteFolder[] }>
  /** Closes every operations connection of an account (paused, deleted, password changed), or of all. */
  closeConnections(accountId?: string): Promise<void>
}

/** Mails are known by their place in a folder: imap. */
export interface FolderMailProvider extends MailBase {
  readonly kind: 'folders'
  /** Opens the standing session that sync works through. One per account, on the owning instance only. */
  openSession(access: MailAccess, events: SessionEvents, signal: AbortSignal): Promise<FolderSession>
  /** On-demand work for API requests; never shares the standing session. Closed after 30 s idle. */
  liveReads(access: MailAccess): FolderLiveReads
}

/** Mails have an id of their own wherever they stand: gmail, microsoft. */
export interface IdMailProvider extends MailBase {
  readonly kind: 'mailbox'
  /** What sync works through. One per account, on the owning instance only. */
  openSession(access: MailAccess): MailboxSession
  /** On-demand work for API requests. */
  liveReads(access: MailAccess): LiveReads<{ providerMessageId: string }>
}

export interface SessionEvents {
  /** Something happened in this folder; look. Undefined: somewhere. */
  onChange(folderPath: string | undefined): void
  /** The session is gone and will not come back; called once, also after a half-open socket was found by the watchdog. */
  onClose(error: ProviderError | undefined): void
}

export interface FolderSession {
  /** Every folder, fresh from the server. */
  listFolders(): Promise<RemoteFolder[]>
  /**
   * What may have changed in these folders, cheaply (STATUS): those whose state differs from the cursor given.
   * A folder that is gone is left out of both and shows in `listFolders`.
   */
  changedFolders(folders: readonly { path: string; cursor: string | null }[]): Promise<string[]>
  /**
   * Brings a folder forward from `cursor` (null: first sync) in steps of at most 500 messages. Each step's `cursor` is valid once the
   * step is stored, so a crash between steps repeats at most one step. Throws `ProviderError`; `cursor_expired` when
   * only a new first sync can help, `not_found` when the folder is gone. One pass at a time per session; a consumer that
   * stops early ends it. On a watched folder the first step holds the new messages, after one round trip.
   */
  syncFolder(request: FolderSyncRequest): AsyncIterable<FolderStep>
  /**
   * Which of these uids still stand in the folder: tells a move from a copy. None when the folder is gone or was
   * renumbered. Not called while a `syncFolder` iteration is open.
   */
  presentUids(folderPath: string, uidValidity: string, uids: readonly number[]): Promise<number[]>
  /** Stays on this folder and calls `onChange` within milliseconds of the server's notice; polls where it cannot be told. */
  watch(folderPath: string): Promise<void>
  close(): Promise<void>
}

export interface FolderSyncRequest {
  path: string
  cursor: string | null
  /** How many of the newest messages a first sync fetches. */
  initialMessages: number
  /** What is stored of this folder with `lowUid` ≤ uid ≤ `highUid`, in any order; for servers that cannot say what changed. */
  known(lowUid: number, highUid: number): Promise<KnownFolderMessage[]>
  /** How many messages of this folder are stored: after a reset at least as many are fetched again. */
  knownCount(): Promise<number>
  signal: AbortSignal
}

/** A stored message, as the provider must know it to compare. */
export interface KnownFolderMessage {
  uid: number
  unread: boolean
  starred: boolean
}

export interface FolderStep {
  /** The server's numbering began anew (UIDVALIDITY): every stored row of the folder lost its place before this step. */
  reset: boolean
  /**
   * `added` was fetched again after a reset (this step's or an earlier one's). Such a message that matches no stored row is
   * new only if it arrived after the last sync; its `isNew` says nothing.
   */
  refetched: boolean
  added: RemoteMessage[]
  changed: { uid: number; unread: boolean; starred: boolean }[]
  /** Uids that are gone. May name unknown ones. */
  removed: number[]
  /** Opaque to everyone but the provider; JSON text under 2 KB. */
  cursor: string
  /** For progress: messages of the folder at the server. */
  total: number
}

export type FolderRole = 'inbox' | 'sent' | 'drafts' | 'trash' | 'junk' | 'archive' | 'all' | 'flagged'

export interface RemoteFolder {
  /** Decoded path as people read it, also the provider's id of the folder: `INBOX`, `Projekte/Größe`. */
  path: string
  name: string
  delimiter: string | null
  role: FolderRole | null
  /** Managed by the provider although it has no role: Gmail's IMPORTANT, CATEGORY_PROMOTIONS. */
  system?: boolean
  selectable: boolean
  /** OBJECTID's MAILBOXID where the server has it: survives a rename. */
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

/** One message in this service's terms; every text cleaned and bounded by the provider's `map.ts`. */
export interface RemoteMessage {
  /** Where it stands. OAuth providers leave it out and give `providerMessageId`. */
  location?: { uidValidity: string; uid: number }
  /** The provider's own name of the mail; null where it has none but its place. */
  providerMessageId: string | null
  /** True when it arrived after the baseline of the first sync: it may be announced as new. */
  isNew: boolean
  /** EMAILID (OBJECTID) or X-GM-MSGID: the same mail wherever it is moved. */
  emailId: string | null
  threadId: string | null
  messageId: string | null
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
  /** SHA-256 over the raw header block, in hex: recognises a mail without Message-ID. */
  headerHash: string
  /** What could not be read or parsed; the rest is what is known. */
  error: string | null
}

export interface MessageBody {
  text: string | null
  html: string | null
  headers: { name: string; value: string }[]
}

/** Live reads. Each waits at most 10 s for the connection, then throws `ProviderError` kind `unavailable` with `timedOut`. */
export interface LiveReads<Ref = MailRef> {
  listFolders(): Promise<RemoteFolder[]>
  getBody(mail: Ref): Promise<MessageBody>
  /** The message as it stands at the server, in bounded memory; `sizeBytes` null: it is not said before. The stream must be read or destroyed. */
  openRaw(mail: Ref): Promise<{ sizeBytes: number | null; stream: NodeJS.ReadableStream }>
  openAttachment(
    mail: Ref,
    attachmentId: string,
  ): Promise<{ contentType: string; filename: string; stream: NodeJS.ReadableStream }>
}

/** Where not every folder is kept in step. */
export interface FolderLiveReads extends LiveReads<MessageLocation> {
  /**
   * Newest uid first. `beforeUid` for deep pages, `offset` skips that many of the newest. For folders that are not kept
   * in step. Throws `not_found` for an unknown folder.
   */
  listMessages(
    folderPath: string,
    options: { limit: number; beforeUid?: number; offset?: number },
  ): Promise<{ messages: RemoteMessage[]; total: number }>
}

/** Names one mail: by its own id, or for imap by its place. */
type MailRef = { providerMessageId: string } | MessageLocation

export interface MessageLocation {
  folderPath: string
  uidValidity: string
  uid: number
}

export type ProviderErrorKind =
  | 'auth_expired'
  | 'rate_limited'
  | 'not_found'
  | 'unavailable'
  | 'rejected'
  | 'cursor_expired'
  | 'tls'

/** The only error that leaves a provider. `message` is for the log and for people: no secrets, no server greeting. */
export class ProviderError extends Error {
  override name = 'ProviderError'
  readonly kind: ProviderErrorKind
  readonly retryAfterMs: number | undefined
  readonly timedOut: boolean
  /** With `rejected`: the user did not grant what this needs. */
  readonly missingScope: boolean

  constructor(
    kind: ProviderErrorKind,
    message: string,
    options: { retryAfterMs?: number; timedOut?: boolean; missingScope?: boolean; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.kind = kind
    this.retryAfterMs = options.retryAfterMs
    this.timedOut = options.timedOut ?? false
    this.missingScope = options.missingScope ?? false
  }
}
