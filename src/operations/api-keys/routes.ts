import * as Type from 'typebox'
import type { Db } from '../../platform/db/index.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { type App, done, type Idempotency, pageQuery } from '../../platform/http/index.ts'
import { type CreateBody, createBody, createdKeySchema, keyList, keyParams, keySchema } from './api.ts'
import type { ApiKeys } from './service.ts'

const tags = ['Operation']
const PATH = '/api-keys'
const ADMIN = { access: 'key:admin' } as const

interface ApiKeyRouteDeps {
  keys: ApiKeys
  idempotency: Idempotency
  transaction: Db['transaction']
}

export function apiKeyRoutes(app: App, { keys, idempotency, transaction }: ApiKeyRouteDeps): void {
  app.get(
    PATH,
    {
      config: ADMIN,
      schema: {
        tags,
        operationId: 'listApiKeys',
        summary: 'List API keys, newest first',
        description: 'Without SERVICE_API_KEY. An expired key is listed until it is deleted.',
        querystring: Type.Object(pageQuery),
        response: { 200: keyList },
      },
    },
    async ({ query }) => {
      const { items, pagination } = await keys.list(query)
      return { apiKeys: items, pagination }
    },
  )

  app.post(
    PATH,
    {
      config: {
        ...ADMIN,
        audit: { action: 'key.created', details: ({ body }) => createdFacts(Object(body)) },
      },
      schema: {
        tags,
        operationId: 'createApiKey',
        summary: 'Create an API key',
        description: 'The response shows the key, once.',
        body: createBody,
        response: { 200: createdKeySchema },
      },
    },
    idempotency.writing(async ({ body, caller }) => {
      if (caller === undefined) throw new AppError('unauthorized')
      return (tx) => keys.create(tx, body, caller)
    }),
  )

  app.get(
    `${PATH}/:apiKeyId`,
    {
      config: ADMIN,
      schema: {
        tags,
        operationId: 'getApiKey',
        summary: 'Get an API key',
        params: keyParams,
        response: { 200: keySchema },
      },
    },
    ({ params }) => keys.get(params.apiKeyId),
  )

  app.delete(
    `${PATH}/:apiKeyId`,
    {
      config: { ...ADMIN, audit: 'key.revoked' },
      schema: {
        tags,
        operationId: 'revokeApiKey',
        summary: 'Revoke an API key',
        description: 'Takes effect at once, on all replicas. Open event streams of the key end within seconds.',
        params: keyParams,
        response: { 200: done },
      },
    },
    async (request) => {
      const { name } = await transaction(async (tx) => {
        const revoked = await keys.revoke(tx, request.params.apiKeyId)
        await request.recordAudit(tx, { target: revoked.id, details: { name: revoked.name } })
        return revoked
      })
      return { success: true, message: `The API key "${name}" was revoked.` }
    },
  )
}

function createdFacts({ name, scopes, expiresAt = null }: Partial<CreateBody>) {
  return { name, scopes, expiresAt }
}
