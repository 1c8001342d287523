/** Every event type there is. `eventTypes` of an endpoint may also hold `*` and prefixes such as `message.*`. */
export const EVENT_TYPES = [
  'message.received',
  'message.sent',
  'message.updated',
  'message.deleted',
  'message.opened',
  'message.link_clicked',
  'message.replied',
  'message.bounced',
  'message.send_failed',
  'mailbox.changed',
  'draft.created',
  'draft.updated',
  'draft.deleted',
  'account.connected',
  'account.updated',
  'account.auth_error',
  'account.sync_stalled',
  'account.recovered',
  'account.paused',
  'account.resumed',
  'account.deleted',
  'sync.backfill_started',
  'sync.backfill_progress',
  'sync.backfill_completed',
  'sync.backfill_failed',
  'calendar.event.created',
  'calendar.event.updated',
  'calendar.event.deleted',
  'booking.created',
  'booking.confirmed',
  'booking.rejected',
  'booking.rescheduled',
  'booking.cancelled',
  'booking.reminder',
  'webhook.test',
  'webhook.endpoint_disabled',
] as const

export type EventType = (typeof EVENT_TYPES)[number]

/** What a room records. `data` is the type's own part, at most 256 KB as JSON. */
export interface NewEvent {
  type: EventType
  accountId: string | null
  provider: string | null
  objectId: string | null
  version: number | null
  data: Record<string, unknown>
  /** False: stored and streamed, but delivered by the caller itself (tests). Default true. */
  fanOut?: boolean
}

/** An event as applications see it, in webhooks and over the API. */
export interface EventBody {
  id: string
  type: EventType
  timestamp: string
  apiVersion: string
  accountId: string | null
  provider: string | null
  sequence: number | null
  objectId: string | null
  version: number | null
  data: Record<string, unknown>
}
