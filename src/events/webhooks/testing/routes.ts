import * as Type from 'typebox'
import { invalid } from '../../../platform/errors/app-error.ts'
import type { App, Idempotency } from '../../../platform/http/index.ts'
import type { EventCatalogue } from '../../index.ts'
import { deliverySchema } from '../deliveries/api.ts'
import { deliveryStore } from '../deliveries/store.ts'
import { endpointParams } from '../endpoints/api.ts'
import type { TestDeliveries } from './service.ts'

const tags = ['Webhooks']

/** As many as a page of the deliveries has. */
const MAX_LISTED = 200
const LISTED =
  'Endpoints not reached within 20 seconds are sent to in the background. Returns the first 200 deliveries; GET /webhooks/deliveries lists all.'

const testMessageBody = Type.Object({
  accountId: Type.String({ minLength: 1 }),
  messageId: Type.String({ minLength: 1 }),
})

const testMessageResult = Type.Object({
  success: Type.Boolean({ description: 'True when the message was sent. Each delivery shows its own outcome.' }),
  deliveries: Type.Array(deliverySchema),
})

const testEventBody = Type.Object(
  { type: Type.String({ minLength: 1, maxLength: 100, examples: ['message.received'] }) },
  { title: 'NewTestEvent' },
)

const testEventResult = Type.Object({
  success: Type.Boolean({ description: 'True when the event was sent. Each delivery shows its own outcome.' }),
  eventId: Type.String(),
  deliveries: Type.Array(deliverySchema),
})

interface TestRouteDeps {
  catalogue: EventCatalogue
  testDeliveries: TestDeliveries
  idempotency: Idempotency
}

export function testRoutes(app: App, { catalogue, testDeliveries, idempotency }: TestRouteDeps): void {
  app.post(
    '/webhooks/endpoints/:endpointId/test',
    {
      config: { access: 'key:write' },
      schema: {
        tags,
        operationId: 'testWebhookEndpoint',
        summary: 'Send a test event to an endpoint',
        description: 'Makes one immediate attempt, also to an inactive endpoint, and returns the delivery.',
        params: endpointParams,
        response: { 200: deliverySchema },
      },
    },
    idempotency.writing(async ({ params }) => {
      const id = await testDeliveries.test(params.endpointId)
      return (tx) => deliveryStore(tx).get(id)
    }),
  )

  app.post(
    '/webhooks/test-message',
    {
      config: { access: 'key:write' },
      schema: {
        tags,
        operationId: 'sendTestMessage',
        errors: [404],
        summary: 'Send a stored message to the endpoints subscribed to message.received',
        description: `Makes one attempt per endpoint. The body contains "test": true. ${LISTED}`,
        body: testMessageBody,
        response: { 200: testMessageResult },
      },
    },
    idempotency.writing(async ({ body }) => {
      const ids = await testDeliveries.testMessage(body.accountId, body.messageId)
      return async (tx) => ({ success: true, deliveries: await deliveryStore(tx).getAll(ids.slice(0, MAX_LISTED)) })
    }),
  )

  app.post(
    '/webhooks/test-event',
    {
      config: { access: 'key:write' },
      schema: {
        tags,
        operationId: 'sendTestEvent',
        summary: 'Send a sample event to the endpoints subscribed to its type',
        description: `Makes one attempt per endpoint. The body contains "test": true. Event streams receive it too. ${LISTED}`,
        body: testEventBody,
        response: { 200: testEventResult },
      },
    },
    idempotency.writing(async ({ body }) => {
      if (catalogue.find(body.type) === undefined) throw invalid('body.type', 'is not an event type')
      const { eventId, deliveryIds } = await testDeliveries.testEvent(body.type)
      return async (tx) => {
        const deliveries = await deliveryStore(tx).getAll(deliveryIds.slice(0, MAX_LISTED))
        return { success: true, eventId, deliveries }
      }
    }),
  )
}
