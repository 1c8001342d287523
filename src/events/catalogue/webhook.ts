import { Type } from 'typebox'
import { timestamp } from '../../infra/http/index.ts'
import { entry } from './entry.ts'

const test = Type.Object(
  { endpointId: Type.String(), message: Type.String({ description: 'For people.' }) },
  { title: 'WebhookTestData' },
)

const disabled = Type.Object(
  {
    endpointId: Type.String(),
    url: Type.String(),
    reason: Type.Enum(['gone'], { description: 'gone: the endpoint answered 410.' }),
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
  'webhook.test': entry(
    'Somebody tests an endpoint; sent to that endpoint only, whatever it subscribes to.',
    test,
    of({ endpointId: ENDPOINT_ID, message: 'This is a test. If you can read it, this endpoint works.' }),
  ),
  'webhook.endpoint_disabled': entry(
    'An endpoint was made inactive because of what it answered; the other endpoints hear of it.',
    disabled,
    of({
      endpointId: ENDPOINT_ID,
      url: 'https://acme.example/hooks/posthorn',
      reason: 'gone',
      disabledAt: '2026-11-20T08:00:00.000Z',
    }),
  ),
}
