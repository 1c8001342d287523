import type { FastifyReply, FastifyRequest, HTTPMethods, RouteOptions } from 'fastify'
import type { App } from './server.ts'

/** The origins whose pages may read the response; `*` is every origin. */
export type AllowedOrigins = (request: FastifyRequest) => Promise<readonly string[]>

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Lets pages of other origins read the responses of the route, without credentials. Other routes send no CORS headers. */
    cors?: AllowedOrigins
    /** Further headers that these pages may send, separated by commas. */
    corsHeaders?: string
  }
}

const REQUEST_HEADERS = 'content-type, idempotency-key, x-request-id'
const RESPONSE_HEADERS = 'x-request-id, retry-after, ratelimit-limit, ratelimit-remaining, ratelimit-reset'
const PREFLIGHT_SECONDS = '600'
const PREFLIGHT_LIMITS = { name: 'preflight', address: { limit: 300, windowMs: 60_000 } }

/** Adds the headers of cross-origin requests to routes with `config.cors`, and a preflight route for each of their paths. */
export function addCors(app: App): void {
  const methods = new Map<string, HTTPMethods[]>()

  app.addHook('onRoute', (route: RouteOptions) => {
    const { cors, corsHeaders } = route.config ?? {}
    const added = [route.method].flat().filter((method) => method !== 'HEAD' && method !== 'OPTIONS')
    if (cors === undefined || added.length === 0) return
    const allowedMethods = methods.get(route.url)
    if (allowedMethods !== undefined) {
      allowedMethods.push(...added)
      return
    }
    const all = [...added]
    methods.set(route.url, all)
    app.options(
      route.url,
      { config: { access: 'public', cors, rateLimit: PREFLIGHT_LIMITS }, schema: { hide: true } },
      async (_request, reply) => {
        reply.headers({
          'access-control-allow-methods': all.join(', '),
          'access-control-allow-headers': [REQUEST_HEADERS, corsHeaders ?? []].flat().join(', '),
          'access-control-max-age': PREFLIGHT_SECONDS,
        })
        return reply.code(204).send()
      },
    )
  })

  // The last hook: errors need the headers too, else the page cannot read them.
  app.addHook('onSend', async (request, reply) => {
    const { cors } = request.routeOptions.config
    if (cors !== undefined) await allowOrigin(request, reply, cors)
  })
}

async function allowOrigin(request: FastifyRequest, reply: FastifyReply, cors: AllowedOrigins): Promise<void> {
  addVary(reply, 'Origin')
  const { origin } = request.headers
  if (origin === undefined) return
  const allowed = await cors(request)
  const value = allowed.includes('*') ? '*' : allowed.find((candidate) => candidate === origin)
  if (value === undefined) return
  reply.header('access-control-allow-origin', value).header('access-control-expose-headers', RESPONSE_HEADERS)
}

function addVary(reply: FastifyReply, name: string): void {
  const current = reply.getHeader('vary')
  reply.header('vary', current === undefined ? name : `${String(current)}, ${name}`)
}
