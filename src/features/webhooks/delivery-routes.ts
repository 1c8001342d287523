import type { Db } from '../../infra/db/index.ts'
import type { App, Idempotency } from '../../infra/http/index.ts'
import type { Queue } from '../../infra/queue/index.ts'
import type { Clock } from '../../lib/clock.ts'
import {
  deliveryList,
  deliveryParams,
  deliveryQuery,
  deliverySchema,
  testMessageAnswer,
  testMessageBody,
} from './delivery-schema.ts'
import { deliveryStore } from './delivery-store.ts'
import { endpointParams } from './endpoint-schema.ts'
import { retryDelivery } from './retry.ts'
import type { Trials } from './trials.ts'

const tags = ['Webhooks']

export interface DeliveryRouteDeps {
  db: Db
  clock: Clock
  queue: Queue
  trials: Trials
  idempotency: Idempotency
}

export function deliveryRoutes(app: App, deps: DeliveryRouteDeps): void {
  const { db, clock, queue, trials, idempotency } = deps

  app.get(
    '/webhooks/deliveries',
    {
      config: { access: 'key:read' },
      schema: {
        tags,
        summary: 'List deliveries, newest first',
        querystring: deliveryQuery,
        response: { 200: deliveryList },
      },
    },
    async (request) => {
      const { items, pagination } = await deliveryStore(db.read).list(request.query)
      return { deliveries: items, pagination }
    },
  )

  app.get(
    '/webhooks/deliveries/:deliveryId',
    {
      config: { access: 'key:read' },
      schema: { tags, summary: 'Get a delivery', params: deliveryParams, response: { 200: deliverySchema } },
    },
    (request) => deliveryStore(db.read).get(request.params.deliveryId),
  )

  app.post(
    '/webhooks/deliveries/:deliveryId/retry',
    {
      config: { access: 'key:write' },
      schema: {
        tags,
        summary: 'Send a delivery again',
        description: 'The same event under the same ids, with as many attempts as the endpoint now allows.',
        params: deliveryParams,
        response: { 200: deliverySchema },
      },
    },
    idempotency.writing(async ({ params }) => async (tx) => {
      await retryDelivery(tx, { dialect: db.dialect, queue }, params.deliveryId, clock.now())
      return deliveryStore(tx).get(params.deliveryId)
    }),
  )

  app.post(
    '/webhooks/endpoints/:endpointId/test',
    {
      config: { access: 'key:write' },
      schema: {
        tags,
        summary: 'Send a test event to an endpoint',
        description: 'One attempt, at once, to an inactive endpoint too. Answers the delivery.',
        params: endpointParams,
        response: { 200: deliverySchema },
      },
    },
    idempotency.writing(async ({ params }) => {
      const id = await trials.test(params.endpointId)
      return (tx) => deliveryStore(tx).get(id)
    }),
  )

  app.post(
    '/webhooks/test-message',
    {
      config: { access: 'key:write' },
      schema: {
        tags,
        summary: 'Send a stored message to the endpoints that hear of message.received',
        description: 'One attempt each, at once; the body says "test": true.',
        body: testMessageBody,
        response: { 200: testMessageAnswer },
      },
    },
    idempotency.writing(async ({ body }) => {
      const ids = await trials.testMessage(body.accountId, body.messageId)
      return async (tx) => ({ success: true, deliveries: await deliveryStore(tx).getAll(ids) })
    }),
  )
}
