import * as Type from 'typebox'
import { timestamp } from '../../platform/formats/json-schema.ts'
import { declareEvent } from '../index.ts'

const test = Type.Object(
  { endpointId: Type.String(), message: Type.String({ description: 'Human-readable.' }) },
  { title: 'WebhookTestData' },
)

const disabled = Type.Object(
  {
    endpointId: Type.String(),
    url: Type.String(),
    reason: Type.Enum(['gone'], { description: 'gone: the endpoint returned 410.' }),
    disabledAt: timestamp(),
  },
  { title: 'WebhookEndpointDisabledData' },
)

const ENDPOINT_ID = 'whe_01k9zv5d7f9h2k4n6q8s1v3x5z'
const of = <Data>(data: Data) => ({
  accountId: null,
  provider: null,
  objectId: ENDPOINT_ID,
  version: null,
  data,
})

export const webhookEvents = {
  'webhook.test': declareEvent(
    'A test of an endpoint. Sent only to that endpoint, regardless of its subscriptions.',
    test,
    of({ endpointId: ENDPOINT_ID, message: 'This is a test. If you can read it, this endpoint works.' }),
  ),
  'webhook.endpoint_disabled': declareEvent(
    'The service disabled an endpoint because of its response. Sent to the other endpoints.',
    disabled,
    of({
      endpointId: ENDPOINT_ID,
      url: 'https://acme.example/hooks/posthorn',
      reason: 'gone',
      disabledAt: '2026-11-20T08:00:00.000Z',
    }),
  ),
}
