import type { Static } from 'typebox'
import * as Type from 'typebox'
import { nullable, timestamp } from '../../platform/formats/json-schema.ts'
import { isoTime, isoTimeOrNull } from '../../platform/time/time.ts'
import type { TrackingEventRow, TrackingRow } from './store.ts'
import { AUTOMATED_REASONS } from './visitor.ts'

export const automatedReasonSchema = nullable(
  Type.Enum([...AUTOMATED_REASONS], { description: 'Why it counts as automated; null when it does not.' }),
)

const trackingEventSchema = Type.Object(
  {
    id: Type.String(),
    type: Type.Enum(['opened', 'link_clicked', 'replied']),
    occurredAt: timestamp(),
    automated: Type.Boolean({ description: 'True when a scanner, prefetcher or proxy caused it instead of a person.' }),
    automatedReason: automatedReasonSchema,
    url: nullable(Type.String({ description: 'The target of the link that was clicked.' })),
    replyMessageId: nullable(Type.String({ description: 'Id of the reply.' })),
    userAgent: nullable(Type.String()),
    ipAddress: nullable(Type.String()),
  },
  { title: 'TrackingEvent' },
)

const count = (description: string) => Type.Integer({ minimum: 0, description })
const last = nullable(timestamp())

export const trackingSchema = Type.Object(
  {
    tracking: Type.Object({ id: Type.String(), messageId: Type.String({ description: 'Id of the sent message.' }) }),
    metrics: Type.Object({
      totalEvents: count('Opens, clicks and replies.'),
      openCount: count('At most 1,000. Opens within 60 s count once.'),
      clickCount: count('Clicks on any link, at most 1,000.'),
      replyCount: count('Replies that arrived in the mailbox. All are counted and announced.'),
      lastEventAt: last,
      lastOpenedAt: last,
      lastClickedAt: last,
      lastRepliedAt: last,
    }),
    events: Type.Array(trackingEventSchema, {
      description: 'Newest first, at most 1,000, of which replies come before opens and clicks when there are more.',
    }),
  },
  { title: 'Tracking' },
)

export function trackingView(row: TrackingRow, events: readonly TrackingEventRow[]): Static<typeof trackingSchema> {
  const { openCount, clickCount, replyCount, lastOpenedAt, lastClickedAt, lastRepliedAt } = row
  const lastEventAt = Math.max(lastOpenedAt ?? 0, lastClickedAt ?? 0, lastRepliedAt ?? 0)
  return {
    tracking: { id: row.id, messageId: row.messageId },
    metrics: {
      totalEvents: openCount + clickCount + replyCount,
      openCount,
      clickCount,
      replyCount,
      lastEventAt: isoTimeOrNull(lastEventAt || null),
      lastOpenedAt: isoTimeOrNull(lastOpenedAt),
      lastClickedAt: isoTimeOrNull(lastClickedAt),
      lastRepliedAt: isoTimeOrNull(lastRepliedAt),
    },
    events: events.map(({ id, type, occurredAt, automatedReason, url, replyMessageId, userAgent, ipAddress }) => ({
      id,
      type,
      occurredAt: isoTime(occurredAt),
      automated: automatedReason !== null,
      automatedReason,
      url,
      replyMessageId,
      userAgent,
      ipAddress,
    })),
  }
}
