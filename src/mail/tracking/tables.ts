import type { AutomatedReason } from './visitor.ts'

/** The tracking of one message: sent, or saved with the pixel that the application inserts itself. */
interface TrackingTable {
  id: string
  accountId: string
  /** The sent message's id, reserved before it is sent. */
  messageId: string
  /** SHA-256 of the token in the addresses of the pixel and the links. */
  tokenHash: string
  /** SHA-256 of the Message-ID, which replies refer to; null until it is known. */
  rfcIdHash: string | null
  subject: string
  openCount: number
  clickCount: number
  replyCount: number
  lastOpenedAt: number | null
  lastClickedAt: number | null
  lastRepliedAt: number | null
  /** Incremented with each event; the `version` of the events that webhooks receive. */
  version: number
  createdAt: number
}

/** The targets of the links of one message, as they were when it was sent. */
interface TrackingLinkTable {
  trackingId: string
  /** From 1, in the order of the message. */
  number: number
  url: string
}

interface TrackingEventTable {
  id: string
  trackingId: string
  accountId: string
  type: 'opened' | 'link_clicked' | 'replied'
  occurredAt: number
  /** Why it counts as automated; null: a person. */
  automatedReason: AutomatedReason | null
  url: string | null
  replyMessageId: string | null
  userAgent: string | null
  ipAddress: string | null
}

declare module '../../platform/db/db.ts' {
  interface Tables {
    trackings: TrackingTable
    trackingLinks: TrackingLinkTable
    trackingEvents: TrackingEventTable
  }
}
