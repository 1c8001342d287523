import type { Static, TProperties } from 'typebox'
import * as Type from 'typebox'
import { documentedAs, nullable, timestamp } from '../../../platform/formats/json-schema.ts'
import { listSchema, pageQuery } from '../../../platform/http/index.ts'
import { MASK, maskedHeaders } from '../../../platform/outbound/index.ts'
import { isoTime, isoTimeOrNull } from '../../../platform/time/time.ts'
import type { EventRow } from '../../index.ts'
import { USER_AGENT } from '../sending/attempt.ts'
import { deliveryBody } from '../sending/attempt-input.ts'
import type { AttemptRow, DeliveryRow } from '../tables.ts'

const STATUSES = ['pending', 'retrying', 'success', 'failed', 'deduplicated', 'cancelled'] as const
const TRIGGERS = ['event', 'retry', 'recover', 'test', 'test-message'] as const

/** The title of the schema that the bodies of all deliveries match. */
export const ENVELOPE = 'WebhookEnvelope'

const errorSchema = nullable(
  Type.Object({
    kind: Type.String({
      description: 'dns, refused_address, connect, tls, timeout, reset, protocol, redirect, http_status or internal.',
    }),
    message: Type.String(),
  }),
)

/** Fields shared by an attempt and its delivery, which shows those of its last attempt. */
const result = {
  responseStatus: nullable(Type.Integer()),
  responseBody: nullable(Type.String({ description: 'At most 16 KB.' })),
  error: errorSchema,
} satisfies TProperties

const attemptSchema = Type.Object(
  {
    attempt: Type.Integer({ description: 'Number of the attempt, from 1.' }),
    startedAt: timestamp(),
    durationMs: Type.Integer(),
    ...result,
  },
  { title: 'WebhookAttempt' },
)
type AttemptView = Static<typeof attemptSchema>

export const deliverySchema = Type.Object(
  {
    id: Type.String(),
    endpointId: Type.String(),
    eventId: Type.String({ description: 'Sent as the webhook-id header.' }),
    eventType: Type.String(),
    accountId: nullable(Type.String()),
    status: Type.Enum(STATUSES, { description: 'retrying: the last attempt failed and another one will follow.' }),
    trigger: Type.Enum(TRIGGERS, { description: 'What caused the last attempt.' }),
    test: Type.Boolean(),
    attempt: Type.Integer({ description: 'Number of attempts made.' }),
    maxAttempts: Type.Integer(),
    url: Type.String(),
    payload: nullable(
      Type.Object(
        {},
        {
          additionalProperties: true,
          ...documentedAs({
            $ref: `#/components/schemas/${ENVELOPE}`,
            description: 'The request body. Null once the event is erased.',
          }),
        },
      ),
    ),
    requestHeaders: Type.Record(Type.String(), Type.String(), {
      description: 'Headers of the last attempt. Signatures and the values of custom headers are masked.',
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

export const deliveryList = listSchema('deliveries', deliverySchema)

export const deliveryQuery = Type.Object({
  ...pageQuery,
  endpointId: Type.Optional(Type.String({ description: 'Only deliveries to this endpoint.' })),
  status: Type.Optional(Type.Enum(STATUSES, { description: 'Only deliveries in this state.' })),
  eventId: Type.Optional(Type.String({ description: 'Only deliveries of this event.' })),
  eventType: Type.Optional(Type.String({ description: 'Only deliveries of events of this type.' })),
  accountId: Type.Optional(Type.String({ description: 'Only deliveries of events of this account.' })),
})
export type DeliveryQuery = Static<typeof deliveryQuery>

export const resendParams = Type.Object({ eventId: Type.String({ minLength: 1, description: 'The id of the event.' }) })

export const resendBody = Type.Object(
  {
    endpointId: Type.String({
      minLength: 1,
      maxLength: 64,
      description: 'It need not subscribe to the type of the event.',
    }),
  },
  { title: 'EventResend' },
)

export const resendResult = Type.Object({
  deliveryId: Type.String({ description: 'The delivery, which is queued. A repeated event keeps its delivery.' }),
})

export const recoverBody = Type.Object(
  {
    since: Type.String({
      minLength: 1,
      description: 'RFC 3339. Recovers events recorded at or after this time.',
      examples: ['2026-01-31T08:00:00Z'],
    }),
    until: Type.Optional(
      Type.String({ minLength: 1, description: 'RFC 3339. Recovers events recorded before this time. Default now.' }),
    ),
  },
  { title: 'WebhookRecovery' },
)

export const recoveryResult = Type.Object({
  success: Type.Boolean(),
  recovered: Type.Integer({ description: 'Number of deliveries queued by this call.' }),
  complete: Type.Boolean({ description: 'False when the range was too large for one call.' }),
  continueSince: Type.Optional(timestamp('Pass this as since of the next call when this one is not complete.')),
})

export const deliveryParams = Type.Object({
  deliveryId: Type.String({ minLength: 1, description: 'The id of the delivery.' }),
})

/** A delivery as the API shows it. `attempts` are in order. Without `event` (erased) the payload is null. */
export function deliveryView(
  row: DeliveryRow,
  event: EventRow | undefined,
  attempts: readonly AttemptRow[],
): DeliveryView {
  const last = attempts.at(-1)
  const endedAt = last === undefined ? null : last.startedAt + last.durationMs
  return {
    id: row.id,
    endpointId: row.endpointId,
    eventId: row.eventId,
    eventType: row.eventType,
    accountId: row.accountId,
    status: row.status,
    trigger: row.trigger,
    test: row.test === 1,
    attempt: row.attempt,
    maxAttempts: row.maxAttempts,
    url: row.url,
    payload: event === undefined ? null : JSON.parse(deliveryBody(row, event)),
    requestHeaders: last === undefined ? {} : headersSent(row, last),
    responseStatus: last?.responseStatus ?? null,
    responseBody: last?.responseBody ?? null,
    error: last === undefined ? null : toError(last),
    durationMs: last?.durationMs ?? null,
    createdAt: isoTime(row.createdAt),
    lastAttemptAt: isoTimeOrNull(last?.startedAt ?? null),
    nextAttemptAt: isoTimeOrNull(row.nextAttemptAt),
    deliveredAt: row.status === 'success' ? isoTimeOrNull(endedAt) : null,
    attempts: attempts.map(attemptView),
  }
}

function attemptView(row: AttemptRow): AttemptView {
  return {
    attempt: row.attempt,
    startedAt: isoTime(row.startedAt),
    durationMs: row.durationMs,
    responseStatus: row.responseStatus,
    responseBody: row.responseBody,
    error: toError(row),
  }
}

function toError(row: AttemptRow): AttemptView['error'] {
  return row.errorKind === null ? null : { kind: row.errorKind, message: row.errorMessage ?? '' }
}

/** The headers that the attempt sent, rebuilt from the rows. Custom header values are not stored, and masked anyway. */
function headersSent(row: DeliveryRow, last: AttemptRow): Record<string, string> {
  const custom: string[] = last.headerNames === null ? [] : JSON.parse(last.headerNames)
  return {
    'content-type': 'application/json',
    'user-agent': USER_AGENT,
    ...maskedHeaders(custom.map((name) => name.toLowerCase())),
    'webhook-id': row.eventId,
    'webhook-timestamp': String(Math.floor(last.startedAt / 1000)),
    ...(last.signatures > 0 && { 'webhook-signature': Array(last.signatures).fill(`v1,${MASK}`).join(' ') }),
  }
}
