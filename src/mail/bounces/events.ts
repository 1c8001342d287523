import * as Type from 'typebox'
import { declareEvent, EXAMPLE_ACCOUNT } from '../../events/index.ts'
import { nullable, timestamp } from '../../platform/formats/json-schema.ts'

const bounced = Type.Object(
  {
    messageId: nullable(
      Type.String({ description: 'Id of the sent message; null when the report names none that is known.' }),
    ),
    reportMessageId: Type.String({
      description: 'Id of the delivery report, which has its own `message.received` event.',
    }),
    subject: nullable(Type.String({ description: 'Subject of the sent message.' })),
    kind: Type.Enum(['permanent', 'temporary'], { description: 'temporary: a mail server keeps retrying.' }),
    recipients: Type.Array(
      Type.Object({
        email: Type.String(),
        status: nullable(Type.String({ description: 'Enhanced status code (RFC 3463).', examples: ['5.1.1'] })),
        diagnostic: nullable(Type.String({ description: 'Response of the mail server.' })),
      }),
      { description: 'Those whom the message did not reach, at most 50.' },
    ),
    bouncedAt: timestamp(),
  },
  { title: 'MessageBouncedData' },
)

const MESSAGE_ID = 'msg_01k9zw8r2c4e6g8j1m3p5r7t9v'
const ofMessage = <Data>(data: Data) => ({ ...EXAMPLE_ACCOUNT, objectId: MESSAGE_ID, version: 1, data })

export const bounceEvents = {
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
}
