import { Type } from 'typebox'
import { ENTRIES, EVENT_TYPES, type EventType, eventSchema, sampleBody } from '../../events/index.ts'
import type { Notice, Notices } from '../../infra/http/index.ts'
import { webhookHeaders } from '../../lib/signature.ts'

const envelope = Type.Object(
  {
    deliveryId: Type.String({ description: 'The delivery: one event to one endpoint.' }),
    test: Type.Boolean({ description: 'True when somebody sent it by hand to test the endpoint.' }),
    ...eventSchema.properties,
  },
  { title: 'WebhookEnvelope' },
)

/** Every webhook there is, as the OpenAPI document describes it: the event in its envelope, signed. */
export function notices(): Notices {
  return {
    headers: [
      {
        name: 'webhook-id',
        description: "The event's id: the same on every attempt, retry and replay.",
        required: true,
        example: SIGNED['webhook-id'] ?? '',
      },
      {
        name: 'webhook-timestamp',
        description: 'Seconds since 1970 of this attempt. Refuse what is older than five minutes.',
        required: true,
        example: SIGNED['webhook-timestamp'] ?? '',
      },
      {
        name: 'webhook-signature',
        description:
          'Standard Webhooks v1: "v1," and the base64 HMAC-SHA256 of "id.timestamp.body" under the secret; two of them, separated by a space, for 24 hours after a rotation. Absent for an endpoint without a secret.',
        required: false,
        example: SIGNED['webhook-signature'] ?? '',
      },
    ],
    responses: {
      '2XX': 'Taken. Answer within the timeout of the endpoint, and work afterwards.',
      '410': 'Nobody is here any more: the endpoint becomes inactive.',
      default: 'Not taken, redirects included: tried again; `Retry-After` is honoured up to 24 hours.',
    },
    kinds: EVENT_TYPES.map(notice),
  }
}

function notice(type: EventType): Notice {
  const { about, data } = ENTRIES[type]
  return {
    name: type,
    summary: about,
    body: { allOf: [envelope, Type.Object({ type: Type.Literal(type), data })] },
    example: exampleBody(type),
  }
}

function exampleBody(type: EventType): object {
  return { deliveryId: 'dlv_01k9zw5ehq4s6v8x1z3b5d7f9h', test: type === 'webhook.test', ...sampleBody(type) }
}

/** A real signature, of the first example under the secret that the specification of Standard Webhooks uses. */
const SIGNED = webhookHeaders({
  id: sampleBody('message.received').id,
  timestamp: Date.parse(sampleBody('message.received').timestamp) / 1000,
  body: JSON.stringify(exampleBody('message.received')),
  secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
})
