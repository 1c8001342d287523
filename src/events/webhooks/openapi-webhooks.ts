import * as Type from 'typebox'
import { webhookHeaders } from '../../platform/crypto/signature.ts'
import type { OpenApiWebhooks } from '../../platform/http/index.ts'
import { type EventCatalogue, eventUnion, exampleEvent } from '../index.ts'
import { ENVELOPE } from './deliveries/api.ts'

/** The `webhooks` of the OpenAPI document: each event type in its envelope, with the headers of its signature. */
export function openApiWebhooks(catalogue: EventCatalogue): OpenApiWebhooks {
  const envelopes = eventUnion(catalogue, {
    title: ENVELOPE,
    suffix: 'Webhook',
    head: {
      deliveryId: Type.String({ description: 'Id of the delivery: one event to one endpoint.' }),
      test: Type.Boolean({ description: 'True when somebody sent the event to test the endpoint.' }),
    },
  })
  const exampleBody = (type: string) => ({
    deliveryId: 'dlv_01k9zw5ehq4s6v8x1z3b5d7f9h',
    test: type === 'webhook.test',
    ...exampleEvent(type, catalogue.get(type)),
  })
  const signed = signedHeaders(exampleBody('message.received'))
  return {
    headers: [
      {
        name: 'webhook-id',
        description: 'Id of the event: the same for every attempt, retry and replay.',
        required: true,
        example: signed['webhook-id'] ?? '',
      },
      {
        name: 'webhook-timestamp',
        description: 'Time of this attempt in seconds since 1970. Reject requests older than five minutes.',
        required: true,
        example: signed['webhook-timestamp'] ?? '',
      },
      {
        name: 'webhook-signature',
        description:
          'Standard Webhooks v1: "v1," and the base64 HMAC-SHA256 of "id.timestamp.body" with the secret. For 24 hours after a rotation two signatures, separated by a space. Absent for an endpoint without a secret.',
        required: false,
        example: signed['webhook-signature'] ?? '',
      },
    ],
    responses: {
      '2XX': 'Accepted. Respond within the timeout of the endpoint and process the event afterwards.',
      '410': 'The endpoint no longer exists. The service disables it.',
      default: 'Failed, including redirects. The service retries and honours `Retry-After` up to 24 hours.',
    },
    body: envelopes.schema,
    events: catalogue.types.map((type) => ({
      name: type,
      summary: catalogue.get(type).description,
      body: envelopes.of(type),
      example: exampleBody(type),
    })),
  }
}

/** A valid signature, with the secret that the Standard Webhooks specification uses. */
function signedHeaders(body: { id: string; timestamp: string }): Record<string, string> {
  return webhookHeaders({
    id: body.id,
    timestamp: Math.floor(Date.parse(body.timestamp) / 1000),
    body: JSON.stringify(body),
    secrets: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'],
  })
}
