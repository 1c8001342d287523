import { STATUS_CODES } from 'node:http'
import type { Components, Json } from './components.ts'
import { curl } from './curl.ts'
import type { OperationExample } from './examples.ts'
import type { RouteEntry } from './route-table.ts'

type JsonObject = { [name: string]: Json }

/** Describes one route as an OpenAPI operation. */
export function operation(
  route: RouteEntry,
  components: Components,
  example: OperationExample,
  serverUrl: string,
): JsonObject {
  const { schema, access } = route
  const body = requestBody(route, components, example.request?.body)
  const scope = access.startsWith('key:') ? [access.slice('key:'.length)] : []
  return {
    operationId: schema.operationId ?? operationId(route),
    ...(schema.tags && { tags: [...schema.tags] }),
    ...(schema.summary && { summary: schema.summary }),
    ...(schema.description && { description: schema.description }),
    ...(schema.deprecated && { deprecated: true }),
    security: security(access, scope),
    parameters: parameters(route, components),
    ...(body && { requestBody: body }),
    responses: { ...successResponses(route, components, example.response), ...errorResponses(route) },
    'x-codeSamples': [{ lang: 'Shell', label: 'curl', source: curl(route, example, serverUrl) }],
  }
}

/** `GET /accounts/:accountId/messages` is `getAccountsMessagesByAccountId`. */
function operationId({ method, url }: RouteEntry): string {
  const parts = url.split('/').filter((part) => part !== '')
  const words = parts.filter((part) => !part.startsWith(':')).flatMap((part) => part.split(/[^A-Za-z0-9]+/))
  const by = parts.filter((part) => part.startsWith(':')).map((part) => part.slice(1))
  return [method.toLowerCase(), ...words.map(capital), ...by.map((name) => `By${capital(name)}`)].join('')
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

function security(access: RouteEntry['access'], scope: string[]): Json {
  if (access === 'public') return []
  const keys: Json[] = [{ bearer: scope }, { apiKey: scope }]
  return access === 'session' ? [{}, ...keys] : keys
}

function parameters(route: RouteEntry, components: Components): Json[] {
  const { schema, url } = route
  const inPath = [...url.matchAll(/:([A-Za-z0-9_]+)/g)].map((match) => match[1] ?? '')
  const known = properties(schema.params)
  return [
    ...inPath.map((name) => parameter('path', name, true, known.members[name] ?? { type: 'string' }, components)),
    ...parametersIn('query', schema.querystring, components),
    ...parametersIn('header', schema.headers, components),
    ...(route.method === 'POST' && route.access.startsWith('key:')
      ? [{ $ref: '#/components/parameters/IdempotencyKey' }]
      : []),
  ]
}

function parametersIn(location: string, schema: unknown, components: Components): Json[] {
  const { members, required } = properties(schema)
  return Object.entries(members).map(([name, member]) =>
    parameter(location, name, required.includes(name), member, components),
  )
}

function parameter(location: string, name: string, required: boolean, schema: unknown, components: Components): Json {
  const { description, deprecated, ...rest } = { ...(schema as { description?: string; deprecated?: boolean }) }
  return {
    name,
    in: location,
    required,
    ...(description && { description }),
    ...(deprecated && { deprecated }),
    schema: components.reference(rest),
  }
}

function properties(schema: unknown): { members: Record<string, unknown>; required: string[] } {
  const { properties: members = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, unknown>
    required?: string[]
  }
  return { members, required }
}

function requestBody(route: RouteEntry, components: Components, example: Json | undefined): Json | undefined {
  const { body } = route.schema
  if (body === undefined) return undefined
  const schema = components.reference(body)
  return {
    // A body of optional members may be omitted.
    required: properties(body).required.length > 0,
    content: {
      'application/json': { schema, ...(example !== undefined && { example }) },
      ...(route.takesForm && { 'application/x-www-form-urlencoded': { schema } }),
    },
  }
}

function successResponses(
  route: RouteEntry,
  components: Components,
  example: OperationExample['response'],
): JsonObject {
  const { response, produces } = route.schema
  if (produces !== undefined) {
    return { 200: { description: 'OK', content: Object.fromEntries(produces.map((type) => [type, {}])) } }
  }
  const documented = Object.entries((response ?? {}) as Record<string, { description?: string }>)
  if (documented.length === 0) return { 200: { description: 'OK' } }
  return Object.fromEntries(
    documented.map(([status, schema]) => [
      status.toUpperCase(),
      successResponse(status, schema, components, status === String(example?.status) ? example?.body : undefined),
    ]),
  )
}

function successResponse(
  status: string,
  schema: { description?: string; type?: string },
  components: Components,
  example: Json | undefined,
): Json {
  const description = schema.description ?? STATUS_CODES[status] ?? 'The response.'
  // A redirect has no body.
  if (schema.type === 'null') return { description }
  return {
    description,
    content: {
      'application/json': { schema: components.reference(schema), ...(example !== undefined && { example }) },
    },
  }
}

/** The shared error responses that a route can return. */
function errorResponses(route: RouteEntry): JsonObject {
  const { schema, access, method } = route
  const keyed = access.startsWith('key:')
  const shared = (name: string) => ({ $ref: `#/components/responses/${name}` })
  return {
    ...((schema.body ?? schema.querystring) !== undefined && { 400: shared('BadRequest') }),
    ...(keyed && { 401: shared('Unauthorized'), 403: shared('Forbidden') }),
    ...(route.url.includes(':') && { 404: shared('NotFound') }),
    ...(keyed && method === 'POST' && { 409: shared('Conflict'), 422: shared('IdempotencyMismatch') }),
    ...(schema.body !== undefined && { 413: shared('PayloadTooLarge'), 415: shared('UnsupportedMediaType') }),
    ...((keyed || route.limited) && { 429: shared('RateLimited') }),
    default: shared('Error'),
  }
}
