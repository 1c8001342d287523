import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyRequest,
  LogController,
  type RawReplyDefaultExpression,
  type RawRequestDefaultExpression,
  type RawServerDefault,
} from 'fastify'
import { AppError } from '../../../lib/errors.ts'
import type { Ids } from '../../../lib/ids.ts'
import type { Log } from '../../log/index.ts'
import { routeEntry } from '../openapi/route-table.ts'
import { type Access, type Authenticator, accessGuard, demandKey } from './access.ts'
import { BODY_LIMIT, readBodies } from './body.ts'
import { answerBrokenConnection } from './broken-connection.ts'
import { closeConnectionsAtLast } from './closing.ts'
import { asAppError, sendError } from './errors.ts'
import type { Idempotency } from './idempotency.ts'
import { type Paths, paths } from './paths.ts'
import { type RateLimits, rateGuards } from './rate-limit.ts'
import { requestId } from './request-id.ts'
import { fastifyLog, logAborted, logRequest } from './request-log.ts'
import { validatorCompiler } from './validation.ts'

/** The server the rooms add their routes to. */
export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

export interface ServerOptions {
  log: Log
  ids: Ids
  authenticator: Authenticator
  /** To see that the handler of every keyed POST is made by `writing`. */
  idempotency: Pick<Idempotency, 'isWriting'>
  rateLimits: RateLimits
  /** Addresses and CIDRs whose `X-Forwarded-*` are believed; empty: nobody's. */
  trustedProxies: readonly string[]
}

/** Graph ids have several hundred characters; 2048 is the longest path parameter taken. */
const MAX_PARAM_LENGTH = 2048
const HEADERS_TIMEOUT_MS = 20_000
/** The whole request, 35 MB over a slow line included. */
const REQUEST_TIMEOUT_MS = 300_000
/** Longer than the 60 s after which common load balancers drop an idle connection: they close first, no request is lost. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000

/**
 * The HTTP server without routes. In this order it looks at a request: id, address bucket, key, body, schema, the
 * route's other buckets, handler. Add routes, then `listen`; `close()` stops accepting, finishes what runs and closes idle connections.
 */
export function createServer(options: ServerOptions): App {
  const known = paths(MAX_PARAM_LENGTH)
  const app: App = fastify({
    loggerInstance: fastifyLog(options.log),
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: requestId(options.ids),
    trustProxy: options.trustedProxies.length > 0 ? [...options.trustedProxies] : false,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    bodyLimit: BODY_LIMIT,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    http: { headersTimeout: HEADERS_TIMEOUT_MS },
    forceCloseConnections: 'idle',
    // A request that reaches us while closing was accepted; it is finished, with "Connection: close".
    return503OnClosing: false,
    clientErrorHandler: answerBrokenConnection(options.ids),
    frameworkErrors: (error, request, reply) => sendError(request, reply, asAppError(error)),
  }).withTypeProvider<TypeBoxTypeProvider>()

  readBodies(app)
  app.setValidatorCompiler(validatorCompiler())
  app.decorateRequest('caller', undefined)
  app.decorateRequest('failure', undefined)
  app.decorate('routeTable', [])

  app.addHook('onRoute', (route) => {
    for (const method of [route.method].flat()) {
      const access = checkedAccess(method, route.url, route, options.idempotency)
      known.add(method, route.url, access)
      if (method !== 'HEAD') app.routeTable.push(routeEntry(method, route, access))
    }
  })

  const limits = rateGuards(options.rateLimits, options.log)
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff')
    if (request.is404) await refuseUnknown(request, known, options.authenticator)
  })
  app.addHook('onRequest', limits.byAddress)
  app.addHook('onRequest', accessGuard(options.authenticator))
  app.addHook('onRequest', limits.byCaller)
  app.addHook('onRequest', async (request, reply) => {
    if (request.routeOptions.config.access !== 'public') reply.header('cache-control', 'no-store')
  })
  app.addHook('preHandler', limits.bySubject)
  app.addHook('onRequestAbort', async (request) => logAborted(options.log, request))
  app.addHook('onResponse', async (request, reply) => logRequest(options.log, request, reply, request.failure))

  closeConnectionsAtLast(app)

  app.setErrorHandler((thrown, request, reply) => {
    const error = asAppError(thrown)
    if (error.status >= 500) request.failure = error.cause ?? error
    return sendError(request, reply, error)
  })
  app.setNotFoundHandler((request, reply) => sendError(request, reply, new AppError('route_not_found')))
  return app
}

declare module 'fastify' {
  interface FastifyRequest {
    /** What really went wrong, for the log line of the request. */
    failure: unknown
  }
}

interface DeclaredRoute {
  config?: { access?: Access }
  handler: unknown
}

/** A mistake in a route stops the start, not a request months later. */
function checkedAccess(
  method: string,
  url: string,
  route: DeclaredRoute,
  idempotency: Pick<Idempotency, 'isWriting'>,
): Access {
  const access = route.config?.access
  if (access === undefined) throw new Error(`${method} ${url} declares no access`)
  if (method === 'POST' && access.startsWith('key:') && !idempotency.isWriting(route.handler)) {
    throw new Error(`POST ${url} takes a key but its handler is not made by idempotency.writing`)
  }
  return access
}

/**
 * A request no route takes. On a path that exists under other methods, all of them keyed, the key comes first: who has
 * none learns nothing about the path.
 */
async function refuseUnknown(request: FastifyRequest, known: Paths, authenticator: Authenticator): Promise<never> {
  const routes = known.at(request.url)
  const [first] = routes
  if (first === undefined) throw new AppError('route_not_found')
  if (routes.every((route) => route.access.startsWith('key:'))) await demandKey(authenticator, request, first.access)
  const allow = [...new Set(routes.map((route) => route.method))].join(', ')
  throw new AppError('method_not_allowed', { headers: { allow } })
}
