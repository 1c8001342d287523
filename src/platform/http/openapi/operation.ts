import { STATUS_CODES } from 'node:http'
import { errorSchema } from '../schemas.ts'
import type { Components, Json } from './components.ts'
import { curl } from './curl.ts'
import { type ErrorResponseName, errorResponse } from './error-responses.ts'
import { type Example, type ExampleRequest, exampleMembers, working } from './examples.ts'
import type { RouteEntry } from './route-table.ts'
import { typescript } from './typescript.ts'

type JsonObject = { [name: string]: Json }

interface OperationContext {
  components: Components
  examples: readonly Example[]
  serverUrl: string
}

/** Describes one route as an OpenAPI operation. */
export function describeOperation(route: RouteEntry, context: OperationContext): JsonObject {
  const { schema, access } = route
  const body = requestBody(route, context)
  const scope = /^(?:key|open):(.+)$/.exec(access)?.slice(1) ?? []
  const [main] = working(context.examples)
  return {
    ...(schema.operationId && { operationId: schema.operationId }),
    ...(schema.tags && { tags: [...schema.tags] }),
    ...(schema.summary && { summary: schema.summary }),
    ...(schema.description && { description: schema.description }),
    ...(schema.deprecated && { deprecated: true }),
    security: security(access, scope),
    parameters: parameters(route, context.components, main?.request),
    ...(body && { requestBody: body }),
    responses: { ...successResponses(route, context), ...errorResponses(route, context) },
    'x-codeSamples': codeSamples(route, context),
  }
}

/** In each language one per example that works. The label names it when there are several. */
function codeSamples(route: RouteEntry, { examples, serverUrl }: OperationContext): Json[] {
  const shown: Partial<Example>[] = working(examples)
  const samples = shown.length === 0 ? [{}] : shown
  const named = (language: string, summary: string | undefined) =>
    samples.length === 1 || summary === undefined ? language : `${language}: ${summary}`
  return [
    ...samples.map(({ summary, request = {} }) => ({
      lang: 'Shell',
      label: named('curl', summary),
      source: curl(route, request, serverUrl),
    })),
    ...samples.map((example) => ({
      lang: 'TypeScript',
      label: named('TypeScript', example.summary),
      source: typescript(route, example, serverUrl),
    })),
  ]
}

function security(access: RouteEntry['access'], scope: string[]): Json {
  if (access === 'public') return []
  const keys: Json[] = [{ bearer: scope }, { apiKey: scope }]
  return access === 'session' || access.startsWith('open:') ? [{}, ...keys] : keys
}

function parameters(route: RouteEntry, components: Components, example: ExampleRequest = {}): Json[] {
  const { schema, url } = route
  const inPath = [...url.matchAll(/:([A-Za-z0-9_]+)/g)].map((match) => match[1] ?? '')
  const described = properties(schema.params)
  return [
    ...inPath.map((name) =>
      parameter('path', name, true, described.members[name] ?? { type: 'string' }, components, example.path?.[name]),
    ),
    ...parametersIn('query', schema.querystring, components, example.query),
    ...parametersIn('header', schema.headers, components, example.headers),
    ...(route.method === 'POST' && route.access.startsWith('key:')
      ? [{ $ref: '#/components/parameters/IdempotencyKey' }]
      : []),
  ]
}

function parametersIn(
  location: string,
  schema: unknown,
  components: Components,
  examples: Readonly<Record<string, Json>> = {},
): Json[] {
  const { members, required } = properties(schema)
  return Object.entries(members).map(([name, member]) =>
    parameter(location, name, required.includes(name), member, components, examples[name]),
  )
}

function parameter(
  location: string,
  name: string,
  required: boolean,
  schema: unknown,
  components: Components,
  example: Json | undefined,
): Json {
  const { description, deprecated, ...rest } = { ...(schema as { description?: string; deprecated?: boolean }) }
  return {
    name,
    in: location,
    required,
    ...(description && { description }),
    ...(deprecated && { deprecated }),
    schema: components.reference(rest),
    ...(example !== undefined && { example }),
  }
}

function properties(schema: unknown): { members: Record<string, unknown>; required: string[] } {
  const { properties: members = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, unknown>
    required?: string[]
  }
  return { members, required }
}

function requestBody(route: RouteEntry, { components, examples }: OperationContext): Json | undefined {
  const body = route.schema.body ?? route.schema.describedBody
  if (body === undefined) return undefined
  const schema = components.reference(body)
  const shown = working(examples)
  const bodies = shown
    .filter(({ request }) => request?.files === undefined)
    .map(({ summary, request }) => ({ summary, value: request?.body }))
  return {
    // A body of optional members may be omitted. One that the handler validates may depend on the rest of the request.
    required: route.schema.body !== undefined && components.requiresMembers(schema),
    content: {
      'application/json': { schema, ...exampleMembers(bodies) },
      ...(route.takesForm && { 'application/x-www-form-urlencoded': { schema } }),
      ...(route.takesFiles && { 'multipart/form-data': multipart(schema, shown) }),
      ...(route.takesText && { 'text/plain': { schema: { type: 'string', description: 'Ignored.' } } }),
    },
  }
}

/** The JSON as one part, and files. */
function multipart(schema: Json, examples: readonly Example[]): Json {
  const bodies = examples.map(({ summary, request: { body = {}, files } = {} }) => {
    const parts = files?.map(({ part, content }): [string, Json] => [part, content])
    return { summary, value: parts && { message: body, ...Object.fromEntries(parts) } }
  })
  return {
    schema: {
      type: 'object',
      required: ['message'],
      properties: { message: schema },
      additionalProperties: {
        type: 'string',
        contentMediaType: 'application/octet-stream',
        description:
          'A file. It becomes an attachment with the filename and the type of its part, unless an entry of `attachments` names the part and says otherwise.',
      },
    },
    encoding: { message: { contentType: 'application/json' } },
    ...exampleMembers(bodies),
  }
}

/** The examples of one status. */
function exampleBodies(examples: readonly Example[], status: string) {
  return examples
    .filter(({ response }) => String(response.status) === status)
    .map(({ summary, response }) => ({ summary, value: response.body }))
}

function successResponses(route: RouteEntry, context: OperationContext): JsonObject {
  const { response, produces, streamed, ranges = false } = route.schema
  if (produces !== undefined) {
    const produced = (status: string, description: string): Json => {
      const members = exampleMembers(exampleBodies(context.examples, status))
      const stream = streamed === undefined ? {} : streamSchema(context.components.reference(streamed))
      const content = Object.fromEntries(produces.map((type) => [type, { ...stream, ...members }]))
      return { description, ...shownHeaders(context.examples, status), content }
    }
    return {
      200: produced('200', 'OK'),
      ...(ranges && { 206: produced('206', 'The requested range'), 304: { description: 'The content is unchanged.' } }),
    }
  }
  const documented = Object.entries((response ?? {}) as Record<string, ResponseSchema>)
  if (documented.length === 0) return { 200: { description: 'OK' } }
  return Object.fromEntries(
    documented.map(([status, schema]) => [status.toUpperCase(), successResponse(status, schema, context)]),
  )
}

/** OpenAPI 3.1 describes a stream as a text. `x-itemSchema` is the `itemSchema` of OpenAPI 3.2: each event of the stream. */
function streamSchema(data: Json): JsonObject {
  const properties = {
    id: { type: 'string', description: 'The value for Last-Event-ID.' },
    event: { type: 'string' },
    data: { type: 'string', contentMediaType: 'application/json', contentSchema: data },
  }
  return {
    schema: { type: 'string', description: 'Server-sent events, as `x-itemSchema` describes each.' },
    'x-itemSchema': { type: 'object', required: ['data'], properties },
  }
}

type ResponseSchema = { description?: string; type?: string }

function successResponse(status: string, schema: ResponseSchema, { components, examples }: OperationContext): Json {
  const description = schema.description ?? STATUS_CODES[status] ?? 'The response.'
  const headers = shownHeaders(examples, status)
  // A redirect has no body.
  if (schema.type === 'null') return { description, ...headers }
  const example = examples.find(({ response }) => String(response.status) === status)
  const type = example?.response.type ?? 'application/json'
  const members = exampleMembers(exampleBodies(examples, status))
  return { description, ...headers, content: { [type]: { schema: components.reference(schema), ...members } } }
}

/** The headers of the first example with this status. */
function shownHeaders(examples: readonly Example[], status: string): JsonObject {
  const example = examples.find(({ response }) => String(response.status) === status)
  const headers = Object.entries(example?.response.headers ?? {}).map(([name, value]) => [
    name,
    { schema: { type: 'string' }, example: value },
  ])
  return headers.length === 0 ? {} : { headers: Object.fromEntries(headers) }
}

/** The error responses that a route can return: the shared ones, or its own examples of them. */
function errorResponses(route: RouteEntry, { components, examples }: OperationContext): JsonObject {
  const { schema, access, method } = route
  const keyed = access.startsWith('key:')
  const shared = (status: string, name: ErrorResponseName): Json => {
    const own = exampleMembers(exampleBodies(examples, status))
    if (Object.keys(own).length === 0) return { $ref: `#/components/responses/${name}` }
    return errorResponse(name, components.reference(errorSchema), own)
  }
  const names: Record<string, ErrorResponseName> = {
    ...((schema.body ?? schema.querystring) !== undefined && { 400: 'BadRequest' }),
    ...((keyed || access.startsWith('open:')) && { 401: 'Unauthorized', 403: 'Forbidden' }),
    ...(route.url.includes(':') && { 404: 'NotFound' }),
    ...(schema.ranges && { 416: 'RangeNotSatisfiable' }),
    // Several accounts may have one customUserId, which `:accountId` accepts, too.
    ...(keyed && route.url.includes(':accountId') && { 409: 'Conflict' }),
    ...(keyed && method === 'POST' && { 409: 'Conflict', 422: 'IdempotencyMismatch' }),
    ...(schema.body !== undefined && { 413: 'PayloadTooLarge', 415: 'UnsupportedMediaType' }),
    ...((keyed || route.limited) && { 429: 'RateLimited' }),
    ...(access !== 'public' && { 503: 'Unavailable' }),
    ...Object.fromEntries((schema.errors ?? []).map((status) => [status, ERRORS_BY_STATUS[status]])),
  }
  const documented = Object.entries(names).map(([status, name]) => [status, shared(status, name)])
  return { ...Object.fromEntries(documented), default: shared('default', 'Error') }
}

const ERRORS_BY_STATUS = {
  404: 'NotFound',
  409: 'Conflict',
  410: 'Gone',
  422: 'IdempotencyMismatch',
  502: 'BadGateway',
  503: 'Unavailable',
  504: 'GatewayTimeout',
} as const satisfies Record<number, ErrorResponseName>
