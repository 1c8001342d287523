import * as Type from 'typebox'
import { type App, done, type Idempotency } from '../../platform/http/index.ts'
import { attachmentRoute, sendResult } from '../outgoing/index.ts'
import { outboxList, outboxParams, outboxQuery, outboxSchema, resolveBody, sendBody } from './api.ts'
import type { Outbox } from './service.ts'

interface OutboxRouteDeps {
  outbox: Outbox
  idempotency: Idempotency
  transaction: <T>(body: (tx: Parameters<Outbox['cancel']>[0]) => Promise<T>) => Promise<T>
}

export function outboxRoutes(app: App, { outbox, idempotency, transaction }: OutboxRouteDeps): void {
  const tags = ['Sending']

  app.post(
    '/accounts/:accountId/messages/send',
    {
      ...attachmentRoute,
      schema: {
        tags,
        operationId: 'sendMessage',
        errors: [502, 504],
        summary: 'Send a message',
        description:
          'Accepts the message and sends it in the background, once: see the outbox. The response names the id that the message will have in Sent. With an Idempotency-Key, a repeated request sends nothing.',
        params: Type.Object({ accountId: Type.String({ description: 'An account id, or its customUserId.' }) }),
        body: sendBody,
        response: { 200: sendResult },
      },
    },
    idempotency.writing(async ({ params, body, files }) => {
      const prepared = await outbox.prepareRequest(params.accountId, body, files)
      return (tx) => outbox.accept(tx, prepared)
    }),
  )

  app.get(
    '/outbox',
    {
      config: { access: 'key:read' },
      schema: {
        tags,
        operationId: 'listOutboxMessages',
        summary: 'List sent and waiting messages, newest first',
        description: 'Messages sent through this API. They stay in the list for 30 days.',
        querystring: outboxQuery,
        response: { 200: outboxList },
      },
    },
    async ({ query }) => {
      const { items, pagination } = await outbox.list(query)
      return { messages: items, pagination }
    },
  )

  app.get(
    '/outbox/:outboxId',
    {
      config: { access: 'key:read' },
      schema: {
        tags,
        operationId: 'getOutboxMessage',
        summary: 'Get a message of the outbox',
        params: outboxParams,
        response: { 200: outboxSchema },
      },
    },
    ({ params }) => outbox.get(params.outboxId),
  )

  app.delete(
    '/outbox/:outboxId',
    {
      config: { access: 'key:write' },
      schema: {
        tags,
        operationId: 'cancelOutboxMessage',
        errors: [409],
        summary: 'Cancel a message that has not been sent',
        description: 'Returns 409 once sending has begun.',
        params: outboxParams,
        response: { 200: done },
      },
    },
    async ({ params }) => {
      await transaction((tx) => outbox.cancel(tx, params.outboxId))
      return { success: true, message: 'The message will not be sent.' }
    },
  )

  app.post(
    '/outbox/:outboxId/resolve',
    {
      config: {
        access: 'key:write',
        audit: { action: 'outbox.resolved', details: ({ body }) => ({ as: Object(body).as }) },
      },
      schema: {
        tags,
        operationId: 'resolveOutboxMessage',
        summary: 'Resolve a message that failed or whose outcome is unknown',
        params: outboxParams,
        body: resolveBody,
        response: { 200: outboxSchema },
      },
    },
    idempotency.writing(
      async ({ params, body }) =>
        async (tx) =>
          outbox.resolve(tx, params.outboxId, body.as),
    ),
  )
}
