import { invalid } from '../../../platform/errors/app-error.ts'
import type { App, Idempotency } from '../../../platform/http/index.ts'
import { isoTime, requireTime } from '../../../platform/time/time.ts'
import { endpointParams } from '../endpoints/api.ts'
import type { TestDeliveries } from '../testing/service.ts'
import {
  deliveryList,
  deliveryParams,
  deliveryQuery,
  deliverySchema,
  recoverBody,
  recoveryResult,
  resendBody,
  resendParams,
  resendResult,
} from './api.ts'
import { type RecoverDeps, recoverEndpoint } from './recovery.ts'
import { resendEvent } from './resend.ts'
import { retryDelivery } from './retry.ts'
import { deliveryStore } from './store.ts'

const tags = ['Webhooks']

interface DeliveryRouteDeps extends RecoverDeps {
  testDeliveries: TestDeliveries
  idempotency: Idempotency
}

export function deliveryRoutes(app: App, deps: DeliveryRouteDeps): void {
  const { db, clock, ids, queue, testDeliveries, idempotency } = deps

  app.get(
    '/webhooks/deliveries',
    {
      config: { access: 'key:read' },
      schema: {
        tags,
        operationId: 'listDeliveries',
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
      schema: {
        tags,
        operationId: 'getDelivery',
        summary: 'Get a delivery',
        params: deliveryParams,
        response: { 200: deliverySchema },
      },
    },
    (request) => deliveryStore(db.read).get(request.params.deliveryId),
  )

  app.post(
    '/webhooks/deliveries/:deliveryId/retry',
    {
      config: { access: 'key:write', audit: 'delivery.retried' },
      schema: {
        tags,
        operationId: 'retryDelivery',
        summary: 'Send a delivery again',
        description:
          'Sends the same event under the same ids, with as many attempts as the endpoint allows now. An inactive endpoint gets one immediate attempt. Failures do not count towards the circuit.',
        params: deliveryParams,
        response: { 200: deliverySchema },
      },
    },
    idempotency.writing(async ({ params: { deliveryId } }) => {
      const wasSent = await testDeliveries.retryInactive(deliveryId)
      return async (tx) => {
        if (!wasSent) await retryDelivery(tx, { dialect: db.dialect, queue }, deliveryId, clock.now())
        return deliveryStore(tx).get(deliveryId)
      }
    }),
  )

  app.post(
    '/events/:eventId/resend',
    {
      config: {
        access: 'key:write',
        audit: { action: 'event.replayed', details: ({ body }) => ({ endpointId: Object(body).endpointId }) },
      },
      schema: {
        tags: ['Events'],
        operationId: 'resendEvent',
        summary: 'Send an event to an endpoint',
        description:
          'Sends the event under its id, whatever the endpoint subscribes to, and again if it was sent before. A delivery to an inactive endpoint waits.',
        params: resendParams,
        body: resendBody,
        response: { 200: resendResult },
      },
    },
    idempotency.writing(async ({ params: { eventId }, body: { endpointId } }) => async (tx) => ({
      deliveryId: await resendEvent(tx, { dialect: db.dialect, queue, ids }, { eventId, endpointId }, clock.now()),
    })),
  )

  app.post(
    '/webhooks/endpoints/:endpointId/recover',
    {
      config: {
        access: 'key:write',
        audit: { action: 'endpoint.recovered', details: ({ body }) => rangeFacts(Object(body)) },
      },
      schema: {
        tags,
        operationId: 'recoverWebhookEndpoint',
        summary: 'Recover the events an endpoint missed',
        description:
          'Queues the subscribed events of a time range whose delivery failed, was cancelled or never existed, for example because the endpoint was inactive. Delivered and waiting events are not sent again. Deliveries to an inactive endpoint wait.',
        params: endpointParams,
        body: recoverBody,
        response: { 200: recoveryResult },
      },
    },
    idempotency.writing(async ({ params, body }) => {
      const range = parseRange(body, clock.now())
      const { recovered, stoppedAt } = await recoverEndpoint(deps, params.endpointId, range)
      const result = {
        success: true,
        recovered,
        complete: stoppedAt === undefined,
        ...(stoppedAt !== undefined && { continueSince: isoTime(stoppedAt) }),
      }
      return async () => result
    }),
  )
}

function rangeFacts({ since, until }: { since?: string; until?: string }) {
  return { since, until }
}

function parseRange({ since, until }: { since: string; until?: string | undefined }, nowMs: number) {
  const sinceMs = requireTime('body.since', since)
  const untilMs = until === undefined ? nowMs + 1 : requireTime('body.until', until)
  if (untilMs <= sinceMs) throw invalid('body.until', 'must be later than since')
  return { sinceMs, untilMs }
}
