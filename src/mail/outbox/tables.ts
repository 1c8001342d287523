import type { Selectable } from 'kysely'
import type { RemoteAddress } from '../../providers/contract/index.ts'
import type { SendStatus } from '../outgoing/index.ts'

/** Recipients, with the names that the header shows. */
export interface Envelope {
  from: RemoteAddress
  to: RemoteAddress[]
  cc: RemoteAddress[]
  bcc: RemoteAddress[]
}

/** One message to send. The row is the truth; jobs carry the account's id only. Times are milliseconds. */
interface OutboxTable {
  id: string
  accountId: string
  status: SendStatus
  /** Reserved for the copy in Sent. */
  messageId: string
  rfcMessageId: string
  sentToken: string
  /** The draft that is sent. */
  draftId: string | null
  /** Identifies the version of the draft that is sent, so that a later one is kept. */
  draftHash: string | null
  subject: string
  /** JSON of `Envelope`. */
  envelope: string
  /** The provider's id of the message that it replies to. */
  repliesTo: string | null
  /** The id of that message. */
  repliedId: string | null
  sizeBytes: number
  /** JSON of `RefusedRecipient[]`. */
  refused: string
  /** JSON of `OutboxError`; null without a problem. */
  error: string | null
  /** Attempts to send. */
  attempts: number
  /**
   * The work left once the message is sent: save the copy in Sent, then delete the draft, then send it again to the recipients that
   * were refused for now. `resending`: the message may be sent to them from here on, so nobody sends it again. Null: nothing.
   */
  remaining: 'copy' | 'draft' | 'recipients' | 'resending' | null
  /** Why the last attempt to save the copy in Sent failed; null without a problem. */
  copyError: string | null
  /** How often Sent was searched, or the remaining work was tried. */
  checks: number
  sendAt: number | null
  /** When the worker has to act: send, search for an uncertain message, or do what remains for a sent one. Null: nothing left to do. */
  dueAt: number | null
  /** Failed attempts are repeated until then. */
  giveUpAt: number
  /** The run that holds the row, and until when by the database's time. */
  lease: string | null
  leasedUntil: number | null
  /** Set before the first byte that could make the provider send. From then on, nobody sends this row again. */
  committedAt: number | null
  providerMessageId: string | null
  sentAt: number | null
  createdAt: number
  updatedAt: number
}

/** The composed message in base64, in parts of at most 256 kB. Deleted once the message is sent. */
interface OutboxPartTable {
  outboxId: string
  part: number
  data: string
}

/** The SMTP server that worked for an account whose settings were derived. */
interface OutboxServerTable {
  accountId: string
  /** The version of the credentials with which it worked. */
  accessVersion: number
  /** JSON of `SmtpSettings`. */
  smtp: string
}

/** Who puts the copies of an account's messages into Sent, once that is known. */
interface OutboxKeeperTable {
  accountId: string
  /** The version of the credentials with which it was found. */
  accessVersion: number
  /** The server that sends the messages, or this service. */
  savedBy: 'server' | 'service'
  /**
   * JSON of `Probe`: the first copy that the service has saved. A second copy of the same message shows that the server saves copies
   * after all. Null once that is certain.
   */
  probe: string | null
}

export type OutboxRow = Selectable<OutboxTable>

declare module '../../platform/db/db.ts' {
  interface Tables {
    outbox: OutboxTable
    outboxParts: OutboxPartTable
    outboxServers: OutboxServerTable
    outboxKeepers: OutboxKeeperTable
  }
}
