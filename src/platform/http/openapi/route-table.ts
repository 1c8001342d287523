import type { RouteOptions } from 'fastify'
import type { Access } from '../server/requests/access.ts'

/** A route, as far as the document describes it. */
export interface RouteEntry {
  method: string
  /** Fastify's form: `/accounts/:accountId`. */
  url: string
  access: Access
  limited: boolean
  takesForm: boolean
  takesText: boolean
  takesFiles: boolean
  schema: RouteSchema
}

/** The documented parts of a route's schema. */
interface RouteSchema {
  tags?: readonly string[]
  summary?: string
  description?: string
  /** The name of the operation in generated clients: a verb first, unique. Every route that is not hidden has one. */
  operationId?: string
  deprecated?: boolean
  /** True for routes outside the API, such as pages and assets. */
  hide?: boolean
  /** Media types of the 200 response when it has no JSON schema. */
  produces?: readonly string[]
  /** The schema of `data` in each event of a text/event-stream. */
  streamed?: unknown
  /** The GET response supports ranges and entity tags (206, 304, 416). */
  ranges?: boolean
  /** The statuses of errors that follow from what the route does, not from its access and parameters. */
  errors?: readonly (404 | 409 | 410 | 422 | 502 | 503 | 504)[]
  body?: unknown
  /** Describes a body that the handler validates itself. */
  describedBody?: unknown
  params?: unknown
  querystring?: unknown
  headers?: unknown
  response?: unknown
}

declare module 'fastify' {
  interface FastifySchema extends Omit<RouteSchema, 'body' | 'params' | 'querystring' | 'headers' | 'response'> {}
  interface FastifyInstance {
    /** Every route added so far, except the HEAD routes that Fastify adds for GET. */
    routeTable: RouteEntry[]
  }
}

export function routeEntry(method: string, route: RouteOptions, access: Access): RouteEntry {
  return {
    method,
    url: route.url,
    access,
    limited: route.config?.rateLimit !== undefined,
    takesForm: route.config?.form === true,
    takesText: route.config?.text === true,
    takesFiles: route.config?.maxFileBytes !== undefined,
    schema: route.schema ?? {},
  }
}
