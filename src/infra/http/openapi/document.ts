import { errorSchema } from '../schemas.ts'
import { type Components, components, type Json } from './components.ts'
import type { Examples } from './examples.ts'
import { operation } from './operation.ts'
import type { RouteEntry } from './route-table.ts'
import { headerParameters, type OpenApiWebhooks, webhookOperations } from './webhooks.ts'

export interface ApiInfo {
  title: string
  version: string
  description: string
  /** The address at which clients reach the service. */
  serverUrl: string
}

export type OpenApiDocument = { [name: string]: Json }

/** Makes the OpenAPI 3.1 document of the routes. It is sorted by path, so that it changes only where the API does. */
export function openApiDocument(
  routes: readonly RouteEntry[],
  info: ApiInfo,
  { webhooks, examples = {} }: { webhooks?: OpenApiWebhooks | undefined; examples?: Examples } = {},
): OpenApiDocument {
  const named = components()
  const shown = routes.filter((route) => route.schema.hide !== true).sort(byPath)
  const paths: Record<string, Record<string, Json>> = {}
  for (const route of shown) {
    const path = route.url.replaceAll(/:([A-Za-z0-9_]+)/g, '{$1}')
    const example = examples[`${route.method} ${path}`] ?? {}
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, named, example, info.serverUrl) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: info.title,
      version: info.version,
      description: info.description,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: info.serverUrl }],
    security: [{ bearer: [] }, { apiKey: [] }],
    tags: [...new Set(shown.flatMap((route) => route.schema.tags ?? []))].sort().map((name) => ({ name })),
    paths,
    ...(webhooks !== undefined && { webhooks: webhookOperations(webhooks, named) }),
    components: sharedComponents(named, webhooks),
  }
}

const METHOD_ORDER = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

function byPath(left: RouteEntry, right: RouteEntry): number {
  if (left.url !== right.url) return left.url < right.url ? -1 : 1
  return METHOD_ORDER.indexOf(left.method) - METHOD_ORDER.indexOf(right.method)
}

function sharedComponents(named: Components, webhooks: OpenApiWebhooks | undefined): Json {
  const error = named.reference(errorSchema)
  const errorResponses = Object.entries(ERROR_RESPONSES).map(([name, { description, headers = [] }]) => [
    name,
    {
      description,
      ...(headers.length > 0 && { headers: Object.fromEntries(headers.map((header) => [header, TEXT_HEADER])) }),
      content: { 'application/json': { schema: error } },
    },
  ])
  return {
    securitySchemes: {
      bearer: { type: 'http', scheme: 'bearer', description: 'The API key.' },
      apiKey: {
        type: 'apiKey',
        in: 'header',
        name: 'x-api-key',
        description: 'The API key, for clients that cannot send a bearer token.',
      },
    },
    parameters: {
      IdempotencyKey: {
        name: 'Idempotency-Key',
        in: 'header',
        required: false,
        description:
          'Makes the request safe to retry for 24 hours: a retry gets the first response with "Idempotent-Replayed: true".',
        schema: { type: 'string', minLength: 1, maxLength: 256 },
      },
      ...(webhooks !== undefined && headerParameters(webhooks)),
    },
    responses: Object.fromEntries(errorResponses),
    schemas: named.schemas(),
  }
}

const TEXT_HEADER = { schema: { type: 'string' } }

const ERROR_RESPONSES: Record<string, { description: string; headers?: string[] }> = {
  BadRequest: { description: 'The request is not valid. `error.details` lists the values to correct.' },
  Unauthorized: { description: 'The API key is missing or not valid.', headers: ['WWW-Authenticate'] },
  Forbidden: { description: 'The key lacks the required scope, or the licence does not allow the request.' },
  NotFound: { description: 'No object has this id.' },
  Conflict: {
    description:
      'The request conflicts with an existing object, or the first request with this Idempotency-Key is still running.',
    headers: ['Retry-After'],
  },
  IdempotencyMismatch: { description: 'The Idempotency-Key was used with a different body.' },
  PayloadTooLarge: { description: 'The body is too large.' },
  UnsupportedMediaType: { description: 'The path does not accept the content type of the body.' },
  RateLimited: {
    description: 'Too many requests. Try again after the time in `Retry-After`.',
    headers: ['Retry-After', 'RateLimit-Reset'],
  },
  Error: { description: 'Any other error; see `error.code`.' },
}
