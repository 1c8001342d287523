import type { RemoteAddress, RemoteMessage } from './message.ts'

/** The content of a draft, the same for every recipient. */
interface DraftContent {
  to: RemoteAddress[]
  cc: RemoteAddress[]
  bcc: RemoteAddress[]
  subject: string
  body: DraftBody
  attachments?: OutgoingAttachment[] | undefined
}

/** A file to send or save. */
export interface OutgoingAttachment {
  filename: string
  contentType: string
  content: Buffer
  /** Set: shown inside the HTML body, which refers to it as `cid:<contentId>`. */
  contentId: string | null
}

/** With `html` only, the words of the HTML become the text for programs that show none. */
export interface DraftBody {
  text: string | null
  html: string | null
}

export interface NewDraft extends DraftContent {
  from: RemoteAddress
  /** With angle brackets. No other message has it. */
  messageId: string
  /** In milliseconds. */
  date: number
}

/** Changes to a draft. Absent members stay as they are. */
export interface DraftChange {
  from?: RemoteAddress | undefined
  to?: RemoteAddress[] | undefined
  cc?: RemoteAddress[] | undefined
  bcc?: RemoteAddress[] | undefined
  subject?: string | undefined
  body?: DraftBody | undefined
  /** Replaces all attachments, except those that the HTML body shows and none of these replaces by its `contentId`. */
  attachments?: OutgoingAttachment[] | undefined
  /** For a draft without a Message-ID. With angle brackets. No other message has it. */
  messageId: string
  /** When the change is made, in milliseconds. */
  date: number
}

/** A stored draft. Its versions share the draft id or the Message-ID; the other members name one version. */
export interface DraftRef {
  draftId: string | null
  messageId: string | null
  providerMessageId: string
  location: { uidValidity: string; uid: number } | null
}

/** The current version of a draft. */
export interface RemoteDraft {
  message: RemoteMessage
  /** Paths of its folders or labels. */
  folders: string[]
}

/**
 * Drafts of one mailbox at its provider. Requests wait as live reads do, and throw `ProviderError`. After an error other than
 * `not_found` and `rejected`, the change may or may not have been made; each method may be called again. One call per draft at a time.
 */
export interface MailDrafts {
  /** `mayExist`: an earlier call with this Message-ID may have saved the draft, which is then returned as it is, with all attachments. */
  create(draft: NewDraft, options: { mayExist: boolean }): Promise<RemoteDraft>
  /** The current version, whichever program wrote it. Undefined when the draft was deleted, moved or sent. */
  find(draft: DraftRef): Promise<RemoteDraft | undefined>
  /**
   * Changes the current version, whichever program wrote it. Everything that the change does not name stays: where a provider stores the
   * bytes of messages, the same bytes. Throws `not_found` where `find` returns undefined, and `rejected` with `unsupported` for a draft
   * that cannot be changed without losing something.
   */
  replace(draft: DraftRef, change: DraftChange): Promise<RemoteDraft>
  /** Deletes all versions for good. A draft that does not exist counts as deleted. */
  delete(draft: DraftRef): Promise<void>
}
