import type { FastifyRequest } from 'fastify'
import * as Type from 'typebox'
import { type App, done, type Idempotency, pageQuery } from '../../../platform/http/index.ts'
import { createBody, endpointList, endpointParams, endpointSchema, updateBody } from './api.ts'
import type { Endpoints } from './service.ts'

const tags = ['Webhooks']
const PATH = '/webhooks/endpoints'

export function endpointRoutes(app: App, deps: { endpoints: Endpoints; idempotency: Idempotency }): void {
  const { endpoints, idempotency } = deps

  app.get(
    PATH,
    {
      config: { access: 'key:read' },
      schema: {
        tags,
        operationId: 'listWebhookEndpoints',
        summary: 'List webhook endpoints',
        querystring: Type.Object(pageQuery),
        response: { 200: endpointList },
      },
    },
    async (request) => {
      const { items, pagination } = await endpoints.list(request.query)
      return { endpoints: items, pagination }
    },
  )

  app.post(
    PATH,
    {
      config: { access: 'key:write', audit: 'endpoint.created' },
      schema: {
        tags,
        operationId: 'createWebhookEndpoint',
        summary: 'Create a webhook endpoint',
        body: createBody,
        response: { 201: endpointSchema },
      },
    },
    idempotency.writing(async (request, reply) => {
      const create = await endpoints.create(request.body)
      reply.code(201)
      return create
    }),
  )

  app.get(
    `${PATH}/:endpointId`,
    {
      config: { access: 'key:read' },
      schema: {
        tags,
        operationId: 'getWebhookEndpoint',
        summary: 'Get a webhook endpoint',
        params: endpointParams,
        response: { 200: endpointSchema },
      },
    },
    (request) => endpoints.get(request.params.endpointId),
  )

  app.put(
    `${PATH}/:endpointId`,
    {
      config: { access: 'key:write', audit: { action: updateAction } },
      schema: {
        tags,
        operationId: 'updateWebhookEndpoint',
        summary: 'Update a webhook endpoint',
        params: endpointParams,
        body: updateBody,
        response: { 200: endpointSchema },
      },
    },
    (request) => endpoints.update(request.params.endpointId, request.body, (tx) => request.recordAudit(tx)),
  )

  app.delete(
    `${PATH}/:endpointId`,
    {
      config: { access: 'key:write', audit: 'endpoint.deleted' },
      schema: {
        tags,
        operationId: 'deleteWebhookEndpoint',
        summary: 'Delete a webhook endpoint',
        description: 'Cancels the waiting deliveries. The delivery history remains.',
        params: endpointParams,
        response: { 200: done },
      },
    },
    async (request) => {
      await endpoints.delete(request.params.endpointId, (tx) => request.recordAudit(tx))
      return { success: true, message: 'The webhook endpoint was deleted.' }
    },
  )
}

function updateAction({ body }: FastifyRequest): string {
  return Object(body).secret === undefined ? 'endpoint.updated' : 'endpoint.secret_rotated'
}
