import { type Static, type TProperties, Type } from 'typebox'
import { listOf, pageQuery } from '../../../infra/http/index.ts'
import { nullable, timestamp } from '../../../lib/json-schema.ts'

const STATUSES = ['pending', 'retrying', 'success', 'failed', 'deduplicated', 'cancelled'] as const
const TRIGGERS = ['event', 'retry', 'recover', 'test', 'test-message'] as const

const failure = nullable(
  Type.Object({
    kind: Type.String({
      description: 'dns, refused_address, connect, tls, timeout, reset, protocol, redirect, http_status or internal.',
    }),
    message: Type.String(),
  }),
)

/** What one attempt and the delivery (which shows its last one) have in common. */
const result = {
  responseStatus: nullable(Type.Integer()),
  responseBody: nullable(Type.String({ description: 'At most 16 KB.' })),
  error: failure,
} satisfies TProperties

const attemptSchema = Type.Object(
  {
    attempt: Type.Integer({ description: 'Counted from 1.' }),
    startedAt: timestamp(),
    durationMs: Type.Integer(),
    ...result,
  },
  { title: 'WebhookAttempt' },
)
export type AttemptView = Static<typeof attemptSchema>

export const deliverySchema = Type.Object(
  {
    id: Type.String(),
    endpointId: Type.String(),
    eventId: Type.String({ description: 'Sent as webhook-id.' }),
    eventType: Type.String(),
    accountId: nullable(Type.String()),
    status: Type.Enum(STATUSES, { description: 'retrying: failed so far, and will be tried again.' }),
    trigger: Type.Enum(TRIGGERS, { description: 'What last set it off.' }),
    test: Type.Boolean(),
    attempt: Type.Integer({ description: 'Attempts made.' }),
    maxAttempts: Type.Integer(),
    url: Type.String(),
    payload: nullable(
      Type.Object(
        {},
        { additionalProperties: true, description: 'The body as it is sent; null once the event is erased.' },
      ),
    ),
    requestHeaders: Type.Record(Type.String(), Type.String(), {
      description: 'Headers of the last attempt; values of custom headers and signatures are masked.',
    }),
    ...result,
    durationMs: nullable(Type.Integer()),
    createdAt: timestamp(),
    lastAttemptAt: nullable(timestamp()),
    nextAttemptAt: nullable(timestamp()),
    deliveredAt: nullable(timestamp()),
    attempts: Type.Array(attemptSchema),
  },
  { title: 'WebhookDelivery' },
)
export type DeliveryView = Static<typeof deliverySchema>

export const deliveryList = listOf('deliveries', deliverySchema)

export const deliveryQuery = Type.Object({
  ...pageQuery,
  endpointId: Type.Optional(Type.String()),
  status: Type.Optional(Type.Enum(STATUSES, { description: 'Deliveries in this state.' })),
  eventId: Type.Optional(Type.String()),
  eventType: Type.Optional(Type.String()),
  accountId: Type.Optional(Type.String()),
})
export type DeliveryQuery = Static<typeof deliveryQuery>

export const recoverBody = Type.Object(
  {
    since: Type.String({
      minLength: 1,
      description: 'RFC 3339: events recorded at this time or later.',
      examples: ['2026-01-31T08:00:00Z'],
    }),
    until: Type.Optional(Type.String({ minLength: 1, description: 'RFC 3339: events before this time. Default now.' })),
  },
  { title: 'WebhookRecovery' },
)

export const recoveryResult = Type.Object({
  success: Type.Boolean(),
  recovered: Type.Integer({ description: 'Deliveries that now wait to be sent.' }),
  complete: Type.Boolean({ description: 'False when the range was too long for one call.' }),
  continueSince: Type.Optional(timestamp('Where to begin the next call when this one is not complete.')),
})

export const deliveryParams = Type.Object({ deliveryId: Type.String({ minLength: 1 }) })

export const testMessageBody = Type.Object({
  accountId: Type.String({ minLength: 1 }),
  messageId: Type.String({ minLength: 1 }),
})

export const testMessageResult = Type.Object({
  success: Type.Boolean({ description: 'True when the message was sent out; each delivery tells how it went.' }),
  deliveries: Type.Array(deliverySchema),
})

export const testEventBody = Type.Object(
  { type: Type.String({ minLength: 1, maxLength: 100, examples: ['message.received'] }) },
  { title: 'WebhookTestEvent' },
)

export const testEventResult = Type.Object({
  success: Type.Boolean({ description: 'True when the event was sent out; each delivery tells how it went.' }),
  eventId: Type.String(),
  deliveries: Type.Array(deliverySchema),
})
