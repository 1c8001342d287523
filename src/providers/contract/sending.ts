import type { ProviderError } from './errors.ts'
import type { MessageLocation } from './folder-mailbox.ts'
import type { RemoteAddress } from './message.ts'
import type { MailAccess, SmtpSettings } from './provider.ts'

/** Sends messages of mailboxes. Knows no outbox: the caller decides what to send, when, and whether again. */
export interface SendProvider {
  /** Connects at the first call that needs it. Several senders of an account may be open: one that hangs does not hold up the others. */
  open(access: MailAccess, options?: SenderOptions): Sender
  /** Whether recipients get a header field with this name, which the caller of the API added. Absent: every field. */
  acceptsHeader?(name: string): boolean
  /** The addresses that the mailbox may send from. Absent: only that of the account is certain. Throws `ProviderError`. */
  listSenders?(access: MailAccess, signal: AbortSignal): Promise<SenderAddresses>
}

export interface SenderAddresses {
  /** The own address and its aliases. */
  addresses: readonly string[]
  /** The provider may accept others, and decides when a message is sent. */
  acceptsOthers: boolean
}

export interface SenderOptions {
  /** Settings that worked before, for accounts whose settings were derived. Tried first. */
  smtp?: SmtpSettings | undefined
  /** Called before `send` returns when settings were derived and a login succeeded. */
  onSettings?(smtp: SmtpSettings): void
}

/** A composed message. */
export interface QueuedMessage {
  from: string
  /** Every recipient, Bcc included. */
  recipients: readonly string[]
  /** The recipients that the bytes name. */
  to: readonly RemoteAddress[]
  cc: readonly RemoteAddress[]
  /** Recipients that the bytes do not name. */
  bcc: readonly string[]
  rfcMessageId: string
  /** The provider's id of the message that it replies to, where one is known. */
  repliesTo: string | null
  sizeBytes: number
  /** The message in RFC 5322 form, without Bcc. May be called several times. */
  bytes(): AsyncIterable<Buffer> | Iterable<Buffer>
  /** The draft that an earlier attempt left at the provider, as passed to `onDraft`. */
  earlierDraftId: string | null
  /** An earlier attempt was killed, perhaps before `onDraft`: a draft with this Message-ID may be left of it. */
  mayHaveDraft: boolean
  /** The provider's message id of the draft that the user wrote, which may have the same Message-ID. No attempt removes it. */
  originalDraftId: string | null
}

/** Callbacks by which the caller stores the progress of a sending. When one rejects, nothing is sent and `send` rejects with its error. */
export interface SendSteps {
  /** Called when the mailbox has a draft of the message, which may be incomplete. For providers that send drafts. */
  onDraft(providerMessageId: string): Promise<void>
  /**
   * Called once per `send`, immediately before the first byte that could make the provider send: after the 354 of DATA, before the
   * request to Gmail or Graph. From here on, a crash leaves the outcome unknown. `providerMessageId`: the id under which the message
   * will be found in Sent, where the provider assigns it before sending.
   */
  onCommit(commit: { providerMessageId: string | null }): Promise<void>
}

export type SendOutcome = { sent: true; providerMessageId: string | null; refused: RefusedRecipient[] } | NotSent

/** Certainly not sent, before or after `onCommit`. */
export interface NotSent {
  sent: false
  error: ProviderError
  /** A later attempt may succeed. */
  retry: boolean
  refused: RefusedRecipient[]
  /** The server refused the content of this message, so it may accept others. */
  onlyThisMessage?: boolean
}

export interface RefusedRecipient {
  email: string
  /** SMTP reply code; null where the provider gives none. */
  code: number | null
  /** The server's words, cleaned and shortened. */
  diagnostic: string
}

/** The reply to a command out of order: the connection is at fault, not the message. */
const BAD_SEQUENCE = 503
const GREYLISTED = /gr[ae]y-?list/i

/**
 * Whether a server that gave this reply may accept the same message or recipient later. RFC 5321 says so of 4xx only, for example because
 * the server takes only so many recipients at once (4.5.3.1.10). Some servers greylist with 5xx.
 */
export function isTemporaryReply(code: number, words: string): boolean {
  return code < 500 || code === BAD_SEQUENCE || GREYLISTED.test(words)
}

export interface Sender {
  /** Rejects when the outcome is unknown, and with the error of a step. Every other failure is an outcome. One at a time. */
  send(message: QueuedMessage, steps: SendSteps, signal: AbortSignal): Promise<SendOutcome>
  /**
   * Whether the mailbox shows that a message of unknown outcome was sent. False proves nothing: providers store sent messages late,
   * and mail servers leave it to the client. Throws `ProviderError`.
   */
  wasSent(message: SentMessageRef, signal: AbortSignal): Promise<boolean>
  /** For a mailbox whose server may leave the copy in Sent to the client. Absent where the provider always saves it. */
  readonly copies?: SentCopies
  /** Removes what a message that will not be sent has left at the provider. Throws `ProviderError`. May be repeated. */
  discard?(message: SentMessageRef, signal: AbortSignal): Promise<void>
  /** Twice safely. */
  close(): Promise<void>
}

/** Identifies a message whose sending was interrupted. */
export interface SentMessageRef {
  rfcMessageId: string
  /** The value of `X-Posthorn-Id`. */
  sentToken: string
  /** As passed to `onCommit`, or to `onDraft`. */
  providerMessageId: string | null
  committedAt: number
}

/** Identifies a copy. Servers that rewrite messages may replace the Message-ID. */
export interface CopyRef {
  rfcMessageId: string
  /** The value of `X-Posthorn-Id`. */
  sentToken: string
}

/** Work that a client may have to do in a mailbox once its message is sent. Throws `ProviderError`. */
export interface SentCopies {
  /** Whether Sent contains the message, which may have been sent days ago. */
  contains(message: { rfcMessageId: string; sentAt: number }, signal: AbortSignal): Promise<boolean>
  /** How many copies the newest messages of Sent have of each of these, in order. For messages that were sent in the last minutes. */
  count(messages: readonly CopyRef[], signal: AbortSignal): Promise<number[]>
  /** Adds the message, with `mayExist` only if Sent does not contain it. Creates the folder when the mailbox has none. */
  save(
    message: { rfcMessageId: string; sentAt: number; mayExist: boolean } & Pick<QueuedMessage, 'bytes'>,
    signal: AbortSignal,
  ): Promise<void>
  /** Marks a message as answered. Throws `not_found` when it is no longer there. */
  markAnswered(message: MessageLocation, signal: AbortSignal): Promise<void>
}
