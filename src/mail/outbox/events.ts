import * as Type from 'typebox'
import { declareEvent, EXAMPLE_ACCOUNT } from '../../events/index.ts'
import { timestamp } from '../../platform/formats/json-schema.ts'

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

export const outboxEvents = {
  'message.send_failed': declareEvent(
    'Sending a message failed or its result is unknown. The service does not retry it.',
    sendFailed,
    {
      ...EXAMPLE_ACCOUNT,
      objectId: MESSAGE_ID,
      version: 1,
      data: {
        outboxId: 'obx_01k9zw8q9z2b4d6f8h1k3n5q7s',
        messageId: MESSAGE_ID,
        subject: 'Re: Invoice 2026-0815',
        to: ['ar@northwind.example'],
        reason: 'uncertain',
        message: 'The mail server closed the connection after the transfer, and Sent does not contain the message.',
        attempts: 1,
        failedAt: '2026-11-20T08:13:03.951Z',
      },
    },
  ),
}
