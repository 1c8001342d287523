import { type Static, Type } from 'typebox'
import { nullable, timestamp } from '../../infra/http/index.ts'
import { entry } from './entry.ts'
import { ACCOUNT, address } from './parts.ts'

/** What an opening and a click have in common. */
const trackedFields = {
  trackingId: Type.String({ description: 'As the answer of sending gave it.' }),
  messageId: Type.String({ description: 'The message that was sent, by its id here.' }),
  subject: Type.String(),
  occurredAt: timestamp(),
  automated: Type.Boolean({ description: 'True when a scanner, prefetcher or proxy did it rather than a person.' }),
  automatedReason: nullable(Type.String({ description: 'Why it is taken for automated; null when it is not.' })),
  userAgent: nullable(Type.String()),
  ipAddress: nullable(Type.String()),
}

const opened = Type.Object(
  {
    ...trackedFields,
    openCount: Type.Integer({ minimum: 1, description: 'Openings so far; those within 60 s count once.' }),
  },
  { title: 'MessageOpenedData' },
)

const clicked = Type.Object(
  {
    ...trackedFields,
    url: Type.String({ description: 'Where the link leads, as it was when the message was sent.' }),
    clickCount: Type.Integer({ minimum: 1, description: 'Clicks on any link of the message so far.' }),
  },
  { title: 'MessageLinkClickedData' },
)

const replied = Type.Object(
  {
    messageId: Type.String({ description: 'The message that was sent.' }),
    trackingId: nullable(Type.String({ description: 'Null when it was sent without tracking.' })),
    replyMessageId: Type.String({ description: 'The answer, by its id here; its own `message.received` comes too.' }),
    threadId: nullable(Type.String()),
    subject: Type.String({ description: 'Of the answer.' }),
    from: nullable(address),
    repliedAt: timestamp(),
    automated: Type.Boolean({ description: 'True for an out-of-office note and the like.' }),
  },
  { title: 'MessageRepliedData' },
)

const bounced = Type.Object(
  {
    messageId: nullable(Type.String({ description: 'The message that was sent; null when the report does not tell.' })),
    reportMessageId: Type.String({ description: 'The delivery report, by its id here.' }),
    subject: nullable(Type.String({ description: 'Of the message that was sent.' })),
    kind: Type.Enum(['permanent', 'temporary'], { description: 'temporary: a server still tries.' }),
    recipients: Type.Array(
      Type.Object({
        email: Type.String(),
        status: nullable(Type.String({ description: 'Enhanced status code (RFC 3463).', examples: ['5.1.1'] })),
        diagnostic: nullable(Type.String({ description: 'What the server said.' })),
      }),
    ),
    bouncedAt: timestamp(),
  },
  { title: 'MessageBouncedData' },
)

const sendFailed = Type.Object(
  {
    outboxId: Type.String({ description: 'Where to resolve it: `POST /outbox/{id}/resolve`.' }),
    messageId: Type.String({ description: 'The id that was reserved for the message.' }),
    subject: Type.String(),
    to: Type.Array(Type.String()),
    reason: Type.Enum(['rejected', 'auth_expired', 'unavailable', 'uncertain'], {
      description: 'uncertain: the connection broke while it was handed over, and it is not found in Sent.',
    }),
    message: Type.String({ description: 'What happened, for people.' }),
    attempts: Type.Integer({ description: 'Attempts made.' }),
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
const ofMessage = <Data>(data: Data) => ({ ...ACCOUNT, objectId: MESSAGE_ID, version: 1, data })

export const sendingEvents = {
  'message.opened': entry('A tracked message was opened: its pixel was loaded.', opened, ofMessage(OPENED)),
  'message.link_clicked': entry(
    'A link of a tracked message was followed.',
    clicked,
    ofMessage({ ...TRACKED, url: 'https://acme.example/payments/0815', clickCount: 1 }),
  ),
  'message.replied': entry(
    'Somebody answered a message that was sent.',
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
  'message.bounced': entry(
    'A mail server reports that a message that was sent could not be delivered.',
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
  'message.send_failed': entry(
    'A message was not sent, or nobody can tell whether it was, and it is not tried again by itself.',
    sendFailed,
    ofMessage({
      outboxId: 'out_01k9zw8q9z2b4d6f8h1k3n5q7s',
      messageId: MESSAGE_ID,
      subject: 'Re: Invoice 2026-0815',
      to: ['ar@northwind.example'],
      reason: 'uncertain',
      message: 'The mail server went away after the message was handed over, and Sent does not hold it.',
      attempts: 1,
      failedAt: '2026-11-20T08:13:03.951Z',
    }),
  ),
}
