import type { Static } from 'typebox'
import * as Type from 'typebox'
import { addressSchema, declareEvent, EXAMPLE_ACCOUNT } from '../../events/index.ts'
import { nullable, timestamp } from '../../platform/formats/json-schema.ts'
import { automatedReasonSchema } from './api.ts'

/** Members of both opens and clicks. */
const trackedFields = {
  trackingId: Type.String({ description: 'As returned when the message was sent.' }),
  messageId: Type.String({ description: 'Id of the sent message.' }),
  subject: Type.String(),
  occurredAt: timestamp(),
  automated: Type.Boolean({ description: 'True when a scanner, prefetcher or proxy caused it instead of a person.' }),
  automatedReason: automatedReasonSchema,
  userAgent: nullable(Type.String()),
  ipAddress: nullable(Type.String()),
}

const opened = Type.Object(
  {
    ...trackedFields,
    openCount: Type.Integer({ minimum: 1, description: 'Opens so far. Opens within 60 s count once.' }),
  },
  { title: 'MessageOpenedData' },
)

const clicked = Type.Object(
  {
    ...trackedFields,
    url: Type.String({ description: 'Target of the link, as it was when the message was sent.' }),
    clickCount: Type.Integer({ minimum: 1, description: 'Clicks on any link of the message so far.' }),
  },
  { title: 'MessageLinkClickedData' },
)

const replied = Type.Object(
  {
    messageId: Type.String({ description: 'Id of the sent message.' }),
    trackingId: nullable(Type.String({ description: 'Null when the message was sent without tracking.' })),
    replyMessageId: Type.String({ description: 'Id of the reply, which has its own `message.received` event.' }),
    threadId: nullable(Type.String()),
    subject: Type.String({ description: 'Subject of the reply.' }),
    from: nullable(addressSchema),
    repliedAt: timestamp(),
    automated: Type.Boolean({ description: 'True for automatic replies, such as out-of-office notes.' }),
  },
  { title: 'MessageRepliedData' },
)

const MESSAGE_ID = 'msg_01k9zw8r2c4e6g8j1m3p5r7t9v'
const TRACKED = {
  trackingId: 'trk_01k9zw8r2d5f7h9k1n3q5s7v9x',
  messageId: MESSAGE_ID,
  subject: 'Re: Invoice 2026-0815',
  occurredAt: '2026-11-20T09:02:44.118Z',
  automated: false,
  automatedReason: null,
  userAgent: 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15',
  ipAddress: '203.0.113.24',
}
const OPENED: Static<typeof opened> = { ...TRACKED, openCount: 1 }
const ofMessage = <Data>(data: Data) => ({ ...EXAMPLE_ACCOUNT, objectId: MESSAGE_ID, version: 1, data })

export const trackingEvents = {
  'message.opened': declareEvent(
    'A recipient opened a tracked message: its pixel was loaded.',
    opened,
    ofMessage(OPENED),
  ),
  'message.link_clicked': declareEvent(
    'A recipient clicked a link in a tracked message.',
    clicked,
    ofMessage({ ...TRACKED, url: 'https://acme.example/payments/0815', clickCount: 1 }),
  ),
  'message.replied': declareEvent(
    'Somebody replied to a sent message.',
    replied,
    ofMessage({
      messageId: MESSAGE_ID,
      trackingId: TRACKED.trackingId,
      replyMessageId: 'msg_01k9zxm4p6r8t1v3x5z7b9d1f3',
      threadId: 'thr_4f1c9a7be2d05368',
      subject: 'Re: Re: Invoice 2026-0815',
      from: { name: 'Accounts receivable', email: 'ar@northwind.example' },
      repliedAt: '2026-11-20T10:15:30.000Z',
      automated: false,
    }),
  ),
}
