import type { EventCatalogue } from '../../../events/index.ts'
import type { App, Idempotency } from '../../../infra/http/index.ts'
import { invalid } from '../../../lib/errors.ts'
import { isoTime, parseTime } from '../../../lib/time.ts'
import { endpointParams } from '../endpoints/api.ts'
import type { TestDeliveries } from '../testing/test-deliveries.ts'
import {
  deliveryList,
  deliveryParams,
  deliveryQuery,
  deliverySchema,
  recoverBody,
  recoveryResult,
  testEventBody,
  testEventResult,
  testMessageBody,
  testMessageResult,
} from './api.ts'
import { type RecoverDeps, recoverEndpoint } from './recovery.ts'
import { retryDelivery } from './retry.ts'
import { deliveryStore } from './store.ts'

const tags = ['Webhooks']

export interface DeliveryRouteDeps extends RecoverDeps {
  catalogue: EventCatalogue
  testDeliveries: TestDeliveries
  idempotency: Idempotency
}

export function deliveryRoutes(app: App, deps: DeliveryRouteDeps): void {
  const { catalogue, db, clock, queue, testDeliveries, idempotency } = deps

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
        description:
          'The same event under the same ids, with as many attempts as the endpoint now allows; to an inactive endpoint one, at once. Failures do not count against its circuit.',
        params: deliveryParams,
        response: { 200: deliverySchema },
      },
    },
    idempotency.writing(async ({ params: { deliveryId } }) => {
      const isTried = await testDeliveries.retryInactive(deliveryId)
      return async (tx) => {
        if (!isTried) await retryDelivery(tx, { dialect: db.dialect, queue }, deliveryId, clock.now())
        return deliveryStore(tx).get(deliveryId)
      }
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
      const id = await testDeliveries.test(params.endpointId)
      return (tx) => deliveryStore(tx).get(id)
    }),
  )

  app.post(
    '/webhooks/endpoints/:endpointId/recover',
    {
      config: { access: 'key:write' },
      schema: {
        tags,
        summary: 'Send an endpoint what it missed',
        description:
          'Events of a range that the endpoint hears of and that failed, were cancelled, or were recorded while it was inactive or not there. What arrived or waits is left alone. While the endpoint is inactive they wait.',
        params: endpointParams,
        body: recoverBody,
        response: { 200: recoveryResult },
      },
    },
    idempotency.writing(async ({ params, body }) => {
      const range = rangeOf(body, clock.now())
      const { recovered, stoppedAt } = await recoverEndpoint(deps, params.endpointId, range)
      const answer = {
        success: true,
        recovered,
        complete: stoppedAt === undefined,
        ...(stoppedAt !== undefined && { continueSince: isoTime(stoppedAt) }),
      }
      return async () => answer
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
        response: { 200: testMessageResult },
      },
    },
    idempotency.writing(async ({ body }) => {
      const ids = await testDeliveries.testMessage(body.accountId, body.messageId)
      return async (tx) => ({ success: true, deliveries: await deliveryStore(tx).getAll(ids) })
    }),
  )

  app.post(
    '/webhooks/test-event',
    {
      config: { access: 'key:write' },
      schema: {
        tags,
        summary: 'Send an example of an event to the endpoints that hear of its type',
        description: 'One attempt each, at once; the body says "test": true. Event streams get it too.',
        body: testEventBody,
        response: { 200: testEventResult },
      },
    },
    idempotency.writing(async ({ body }) => {
      if (catalogue.find(body.type) === undefined) throw invalid('body.type', 'is not an event type')
      const { eventId, deliveryIds } = await testDeliveries.testEvent(body.type)
      return async (tx) => ({ success: true, eventId, deliveries: await deliveryStore(tx).getAll(deliveryIds) })
    }),
  )
}

function rangeOf({ since, until }: { since: string; until?: string | undefined }, nowMs: number) {
  const sinceMs = timeOf('body.since', since)
  const untilMs = until === undefined ? nowMs + 1 : timeOf('body.until', until)
  if (untilMs <= sinceMs) throw invalid('body.until', 'must be later than since')
  return { sinceMs, untilMs }
}

function timeOf(path: string, text: string): number {
  const ms = parseTime(text)
  if (ms === undefined) throw invalid(path, 'must be a time such as 2026-01-31T08:00:00Z')
  return ms
}
