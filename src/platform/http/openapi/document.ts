import { IDEMPOTENCY_KEY_HOURS } from '../../idempotency-key.ts'
import { errorSchema } from '../schemas.ts'
import { type Components, components, type Json } from './components.ts'
import { sharedErrorResponses } from './error-responses.ts'
import type { Examples } from './examples.ts'
import { describeOperation } from './operation.ts'
import type { RouteEntry } from './route-table.ts'
import { headerParameters, type OpenApiWebhooks, WEBHOOKS_TAG, webhookOperations } from './webhooks.ts'

export interface ApiInfo {
  title: string
  version: string
  description: string
  /** The address at which clients reach the service. */
  serverUrl: string
  /** In the order of the document. Tags that are not listed follow by name. */
  tags?: readonly { name: string; description: string }[]
}

export type OpenApiDocument = { [name: string]: Json }

/** Makes the OpenAPI 3.1 document of the routes. Paths are in the order of the routes, which readers see. */
export function openApiDocument(
  routes: readonly RouteEntry[],
  info: ApiInfo,
  { webhooks, examples = {} }: { webhooks?: OpenApiWebhooks | undefined; examples?: Examples } = {},
): OpenApiDocument {
  const named = components()
  const shown = routes.filter((route) => route.schema.hide !== true)
  checkOperationIds(shown)
  const paths: Record<string, Record<string, Json>> = {}
  for (const route of shown) {
    const path = route.url.replaceAll(/:([A-Za-z0-9_]+)/g, '{$1}')
    const context = { components: named, examples: examples[`${route.method} ${path}`] ?? [], ...info }
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: describeOperation(route, context) }
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
    tags: buildTags(shown, webhooks, info.tags ?? []),
    paths,
    ...(webhooks !== undefined && { webhooks: webhookOperations(webhooks, named) }),
    components: sharedComponents(named, webhooks, info.serverUrl),
  }
}

/** Generators name functions, files and types by it. */
const OPERATION_ID = /^[a-z][A-Za-z]{2,40}$/

/** Throws when a route has no operationId, an unusable one, or that of another route. */
function checkOperationIds(routes: readonly RouteEntry[]): void {
  const owners = new Map<string, string>()
  for (const { method, url, schema } of routes) {
    const route = `${method} ${url}`
    const { operationId } = schema
    if (operationId === undefined) throw new Error(`${route} has no operationId. Add one to its schema.`)
    if (!OPERATION_ID.test(operationId)) {
      throw new Error(`${route} has the operationId "${operationId}", which does not match ${OPERATION_ID.source}.`)
    }
    const owner = owners.get(operationId)
    if (owner !== undefined) throw new Error(`${route} has the operationId "${operationId}" of ${owner}.`)
    owners.set(operationId, route)
  }
}

function buildTags(
  routes: readonly RouteEntry[],
  webhooks: OpenApiWebhooks | undefined,
  described: readonly { name: string; description: string }[],
): Json {
  const used = new Set(routes.flatMap((route) => route.schema.tags ?? []))
  if (webhooks !== undefined) used.add(WEBHOOKS_TAG)
  const describedTags = described.filter(({ name }) => used.has(name))
  const others = [...used].filter((name) => !describedTags.some((tag) => tag.name === name)).sort()
  return [...describedTags.map((tag) => ({ ...tag })), ...others.map((name) => ({ name }))]
}

function sharedComponents(named: Components, webhooks: OpenApiWebhooks | undefined, serverUrl: string): Json {
  const error = named.reference(errorSchema)
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
        description: `Makes the request safe to retry for ${IDEMPOTENCY_KEY_HOURS} hours: a retry gets the first response with "Idempotent-Replayed: true".`,
        schema: { type: 'string', minLength: 1, maxLength: 256 },
      },
      ...(webhooks !== undefined && headerParameters(webhooks)),
    },
    responses: sharedErrorResponses(error, serverUrl),
    schemas: named.schemas(),
  }
}
