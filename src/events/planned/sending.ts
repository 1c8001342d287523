import { type Static, Type } from 'typebox'
import { nullable, timestamp } from '../../lib/json-schema.ts'
import { addressSchema, declareEvent, EXAMPLE_ACCOUNT } from '../catalogue.ts'

/** Members of both opens and clicks. */
const trackedFields = {
  trackingId: Type.String({ description: 'As returned when the message was sent.' }),
  messageId: Type.String({ description: 'Id of the sent message.' }),
  subject: Type.String(),
  occurredAt: timestamp(),
  automated: Type.Boolean({ description: 'True when a scanner, prefetcher or proxy caused it instead of a person.' }),
  automatedReason: nullable(Type.String({ description: 'Why it counts as automated; null when it does not.' })),
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

const bounced = Type.Object(
  {
    messageId: nullable(Type.String({ description: 'Id of the sent message; null when the report does not name it.' })),
    reportMessageId: Type.String({ description: 'Id of the delivery report.' }),
    subject: nullable(Type.String({ description: 'Subject of the sent message.' })),
    kind: Type.Enum(['permanent', 'temporary'], { description: 'temporary: a mail server keeps retrying.' }),
    recipients: Type.Array(
      Type.Object({
        email: Type.String(),
        status: nullable(Type.String({ description: 'Enhanced status code (RFC 3463).', examples: ['5.1.1'] })),
        diagnostic: nullable(Type.String({ description: 'Response of the mail server.' })),
      }),
    ),
    bouncedAt: timestamp(),
  },
  { title: 'MessageBouncedData' },
)

const sendFailed = Type.Object(
  {
    outboxId: Type.String({ description: 'Resolve it with `POST /outbox/{id}/resolve`.' }),
    messageId: Type.String({ description: 'Id reserved for the message.' }),
    subject: Type.String(),
    to: Type.Array(Type.String()),
    reason: Type.Enum(['rejected', 'auth_expired', 'unavailable', 'uncertain'], {
      description: 'uncertain: the connection broke during the transfer, and Sent does not contain the message.',
    }),
    message: Type.String({ description: 'Human-readable description of the failure.' }),
    attempts: Type.Integer({ description: 'Number of attempts.' }),
    failedAt: timestamp(),
  },
  { title: 'MessageSendFailedData' },
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

export const sendingEvents = {
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
  'message.bounced': declareEvent(
    'A mail server reported that it could not deliver a sent message.',
    bounced,
    ofMessage({
      messageId: MESSAGE_ID,
      reportMessageId: 'msg_01k9zw9b7d9f1h3k5n7q9s1v3x',
      subject: 'Re: Invoice 2026-0815',
      kind: 'permanent',
      recipients: [{ email: 'ar@northwind.example', status: '5.1.1', diagnostic: '550 5.1.1 No such user here' }],
      bouncedAt: '2026-11-20T08:11:09.000Z',
    }),
  ),
  'message.send_failed': declareEvent(
    'Sending a message failed or its result is unknown. The service does not retry it.',
    sendFailed,
    ofMessage({
      outboxId: 'out_01k9zw8q9z2b4d6f8h1k3n5q7s',
      messageId: MESSAGE_ID,
      subject: 'Re: Invoice 2026-0815',
      to: ['ar@northwind.example'],
      reason: 'uncertain',
      message: 'The mail server closed the connection after the transfer, and Sent does not contain the message.',
      attempts: 1,
      failedAt: '2026-11-20T08:13:03.951Z',
    }),
  ),
}
