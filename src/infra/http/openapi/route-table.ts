import type { RouteOptions } from 'fastify'
import type { Access } from '../server/access.ts'

/** One route as the document needs it. */
export interface RouteEntry {
  method: string
  /** Fastify's form: `/accounts/:accountId`. */
  url: string
  access: Access
  limited: boolean
  takesForm: boolean
  schema: RouteSchema
}

/** The parts of a route's schema that are documented; everything but the JSON Schemas is text for people. */
export interface RouteSchema {
  tags?: readonly string[]
  summary?: string
  description?: string
  operationId?: string
  deprecated?: boolean
  /** True for what is no part of the API: assets, pages of the portal. */
  hide?: boolean
  /** Media types of the 200 answer when it is not JSON. */
  produces?: readonly string[]
  body?: unknown
  params?: unknown
  querystring?: unknown
  headers?: unknown
  response?: unknown
}

declare module 'fastify' {
  interface FastifySchema extends Omit<RouteSchema, 'body' | 'params' | 'querystring' | 'headers' | 'response'> {}
  interface FastifyInstance {
    /** Every route added so far, but for the HEAD twins of GET. */
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
    schema: route.schema ?? {},
  }
}
