import { errorSchema } from '../schemas.ts'
import { type Components, components, type Json } from './components.ts'
import { headerParameters, type Notices, noticesPart } from './notices.ts'
import { operation } from './operation.ts'
import type { RouteEntry } from './route-table.ts'

export interface ApiInfo {
  title: string
  version: string
  description: string
  /** Address under which clients reach the service. */
  serverUrl: string
}

export type OpenApiDocument = { [name: string]: Json }

/** The OpenAPI 3.1 document of these routes, in the order of their paths, so that it changes only where the API does. */
export function openApiDocument(routes: readonly RouteEntry[], info: ApiInfo, notices?: Notices): OpenApiDocument {
  const named = components()
  const shown = routes.filter((route) => route.schema.hide !== true).sort(byPath)
  const paths: Record<string, Record<string, Json>> = {}
  for (const route of shown) {
    const path = route.url.replaceAll(/:([A-Za-z0-9_]+)/g, '{$1}')
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, named) }
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
    ...(notices !== undefined && { webhooks: noticesPart(notices, named) }),
    components: sharedComponents(named, notices),
  }
}

const METHOD_ORDER = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

function byPath(left: RouteEntry, right: RouteEntry): number {
  if (left.url !== right.url) return left.url < right.url ? -1 : 1
  return METHOD_ORDER.indexOf(left.method) - METHOD_ORDER.indexOf(right.method)
}

function sharedComponents(named: Components, notices: Notices | undefined): Json {
  const error = named.reference(errorSchema)
  const failures = Object.entries(FAILURES).map(([name, { description, headers = [] }]) => [
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
          'Makes the request safe to repeat for 24 hours: a repeat gets the first answer with "Idempotent-Replayed: true".',
        schema: { type: 'string', minLength: 1, maxLength: 256 },
      },
      ...(notices !== undefined && headerParameters(notices)),
    },
    responses: Object.fromEntries(failures),
    schemas: named.schemas(),
  }
}

const TEXT_HEADER = { schema: { type: 'string' } }

const FAILURES: Record<string, { description: string; headers?: string[] }> = {
  BadRequest: { description: 'The request is not valid; `details` says what to correct.' },
  Unauthorized: { description: 'No key, or one that is not known.', headers: ['WWW-Authenticate'] },
  Forbidden: { description: 'The key may not do that, or the licence does not allow it.' },
  NotFound: { description: 'There is nothing with this id.' },
  Conflict: {
    description: 'It conflicts with what exists, or the first request with this Idempotency-Key still runs.',
    headers: ['Retry-After'],
  },
  IdempotencyMismatch: { description: 'The Idempotency-Key was used with another body.' },
  PayloadTooLarge: { description: 'The body is too large.' },
  UnsupportedMediaType: { description: 'The body is of a type this path does not take.' },
  RateLimited: { description: 'Too many requests.', headers: ['Retry-After', 'RateLimit-Reset'] },
  Error: { description: 'Any other failure; `error.code` names it.' },
}
