import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import fastify, {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
  type RawReplyDefaultExpression,
  type RawRequestDefaultExpression,
  type RawServerDefault,
} from 'fastify'
import { AppError } from '../../errors/app-error.ts'
import type { Ids } from '../../ids.ts'
import type { Log } from '../../log/index.ts'
import { routeEntry } from '../openapi/route-table.ts'
import { type AuditLog, addAudit } from './audit.ts'
import { clientErrorHandler, endConnectionsOnClose, limitConnections } from './connections.ts'
import { addCors } from './cors.ts'
import { fastifyLog, logAborted, logRequest, requestId } from './request-log.ts'
import { type Access, type AccessChecks, type Authenticator, accessChecks } from './requests/access.ts'
import { addBodyParsers, BODY_LIMIT, chooseBodyLimit, limitBodyTime } from './requests/body.ts'
import type { Idempotency } from './requests/idempotency.ts'
import { type Paths, paths } from './requests/paths.ts'
import { type RateLimits, rateGuards } from './requests/rate-limit.ts'
import { type SchemaWarmUp, serializerCompiler, validatorCompiler } from './requests/schema-compilers.ts'
import { asAppError, sendError } from './responses/errors.ts'
import { endWithAccess } from './responses/lasting-responses.ts'

/** The server that features add their routes to. */
export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>

/** Facts about a response that the metrics count. */
export interface ResponseFacts {
  method: string
  /** The pattern, never the path. */
  route: string
  status: number
  durationMs: number
  /** Undefined without an error. */
  errorCode: string | undefined
}

export interface ServerOptions {
  log: Log
  ids: Ids
  /** The address at which clients reach the service, without a trailing slash. */
  publicUrl: string
  authenticator: Authenticator
  /** Checks that `writing` made the handler of every keyed POST. */
  idempotency: Pick<Idempotency, 'isWriting'>
  /** Where routes with `audit` are recorded. Default: nowhere. */
  audit?: AuditLog
  rateLimits: RateLimits
  /** Addresses and CIDRs whose `X-Forwarded-*` headers are trusted. */
  trustedProxies: readonly string[]
  /** Returns the page of an error and sets its headers. Undefined: the error is sent as JSON. Default: always JSON. */
  errorPage?: (request: FastifyRequest, reply: FastifyReply, error: AppError) => string | undefined
  /** Default: 4000. */
  maxConnections?: number
  /** Called after each response, for the metrics. */
  onResponse?(response: ResponseFacts): void
  /** How long a body may take to arrive on routes that set no `bodyTimeoutMs`. Default: 30 s. */
  bodyTimeoutMs?: number
  /** How often the access of running responses is checked again. Default: 10 s. */
  accessCheckMs?: number
}

/** The default is too short: Graph ids have several hundred characters. */
const MAX_PARAM_LENGTH = 2048
const HEADERS_TIMEOUT_MS = 20_000
/** For the whole request, up to 35 MB over a slow connection. */
const REQUEST_TIMEOUT_MS = 300_000
const BODY_TIMEOUT_MS = 30_000
/** How often Node looks for connections past these limits. */
const CHECK_INTERVAL_MS = 5000
const MAX_CONNECTIONS = 4000
const ACCESS_CHECK_MS = 10_000
/** Common load balancers close idle connections after 60 s. If the server closed first, a request could be lost. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000

/**
 * The HTTP server without routes. It processes a request in this order: id, address bucket, key, key bucket, body, schema,
 * subject bucket, handler. On open routes the key comes before the address bucket. `close` stops accepting, finishes running
 * requests and closes idle connections.
 */
export function createServer(options: ServerOptions): App {
  const routePaths = paths(MAX_PARAM_LENGTH)
  const app: App = fastify({
    loggerInstance: fastifyLog(options.log),
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: requestId(options.ids),
    trustProxy: options.trustedProxies.length > 0 ? [...options.trustedProxies] : false,
    routerOptions: { maxParamLength: MAX_PARAM_LENGTH },
    bodyLimit: BODY_LIMIT,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    http: { headersTimeout: HEADERS_TIMEOUT_MS, connectionsCheckingInterval: CHECK_INTERVAL_MS },
    forceCloseConnections: 'idle',
    // Finishes a request that arrives on an open connection during the close, with "Connection: close".
    return503OnClosing: false,
    clientErrorHandler: clientErrorHandler(options.ids, options.publicUrl),
    frameworkErrors: (error, request, reply) => sendError(request, reply, asAppError(error)),
  }).withTypeProvider<TypeBoxTypeProvider>()

  addBodyParsers(app)
  limitBodyTime(app, options.bodyTimeoutMs ?? BODY_TIMEOUT_MS)
  const { log, trustedProxies, maxConnections = MAX_CONNECTIONS } = options
  limitConnections(app, { max: maxConnections, trustedProxies, log })
  app.decorate('publicUrl', options.publicUrl)
  app.decorate('warmUps', [])
  app.setValidatorCompiler(validatorCompiler(app.warmUps))
  app.setSerializerCompiler(serializerCompiler(app.warmUps))
  app.decorateRequest('caller', undefined)
  app.decorateRequest('failure', undefined)
  app.decorateRequest('errorCode', undefined)
  app.decorateRequest('files', undefined)
  app.decorate('routeTable', [])

  addAudit(app, options.audit, options.idempotency.isWriting)

  app.addHook('onRoute', (route) => {
    for (const method of [route.method].flat()) {
      const access = checkedAccess(method, route.url, route, options.idempotency)
      routePaths.add(method, route.url, access)
      route.bodyLimit ??= chooseBodyLimit(access)
      if (method !== 'HEAD') app.routeTable.push(routeEntry(method, route, access))
    }
  })

  const { authenticator, accessCheckMs = ACCESS_CHECK_MS } = options
  const limits = rateGuards(options.rateLimits, options.log)
  const checks = accessChecks(authenticator, limits.wrongKey)
  app.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id).header('x-content-type-options', 'nosniff')
    if (request.is404) await rejectUnknownRoute(request, reply, routePaths, checks)
  })
  // The application's own requests to open routes share no limits with the public.
  app.addHook('onRequest', checks.findCaller)
  app.addHook('onRequest', limits.byAddress)
  app.addHook('onRequest', checks.guard)
  endWithAccess(app, { authenticator, log, everyMs: accessCheckMs })
  app.addHook('onRequest', limits.byCaller)
  app.addHook('onRequest', async (request, reply) => {
    if (request.routeOptions.config.access !== 'public') reply.header('cache-control', 'no-store')
  })
  app.addHook('preHandler', limits.bySubject)
  app.addHook('onRequestAbort', async (request) => logAborted(options.log, request))
  app.addHook('onResponse', async (request, reply) => {
    logRequest(options.log, request, reply, request.failure)
    const { method, errorCode, routeOptions } = request
    const facts = { method, route: routeOptions.url ?? 'unknown', status: reply.statusCode, errorCode }
    options.onResponse?.({ ...facts, durationMs: reply.elapsedTime })
  })

  // While it listens, an error concerns one connection that could not be accepted. Unhandled, it would end the process.
  app.addHook('onListen', async () => {
    app.server.on('error', (error) =>
      log.warn('A connection could not be accepted.', { operation: 'http.server', error }),
    )
  })
  addCors(app)
  endConnectionsOnClose(app)

  app.setErrorHandler((thrown, request, reply) => {
    const error = asAppError(thrown)
    request.errorCode = error.code
    if (error.status >= 500) request.failure = error.cause ?? error
    const page = options.errorPage?.(request, reply, error)
    return page === undefined ? sendError(request, reply, error) : reply.send(page)
  })
  app.setNotFoundHandler((request, reply) => sendError(request, reply, new AppError('route_not_found')))
  return app
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The cause of a 5xx response, for the log. */
    failure: unknown
    /** The code of an error response, for the metrics. */
    errorCode: string | undefined
  }
  interface FastifyContextConfig {
    /** A keyed POST that `Idempotency.writing` does not wrap, because the handler itself makes repetitions safe. */
    repeatable?: boolean
  }
  interface FastifyInstance {
    /** The address at which clients reach the service, without a trailing slash. */
    publicUrl: string
    /** For when the server listens. */
    warmUps: SchemaWarmUp[]
  }
}

interface DeclaredRoute {
  config?: { access?: Access; repeatable?: boolean }
  handler: unknown
}

/** Throws when a route is declared wrongly, so that the mistake stops the start. */
function checkedAccess(
  method: string,
  url: string,
  route: DeclaredRoute,
  idempotency: Pick<Idempotency, 'isWriting'>,
): Access {
  const access = route.config?.access
  if (access === undefined) throw new Error(`${method} ${url} declares no access`)
  const mayRepeat = route.config?.repeatable === true || idempotency.isWriting(route.handler)
  if (method === 'POST' && access.startsWith('key:') && !mayRepeat) {
    throw new Error(`POST ${url} requires a key, but idempotency.writing did not make its handler`)
  }
  return access
}

/**
 * Throws 404, or 405 when the path exists with other methods. When all of them require a key, so does the 405: without a
 * key a caller learns nothing about the path.
 */
async function rejectUnknownRoute(
  request: FastifyRequest,
  reply: FastifyReply,
  routePaths: Paths,
  { requireKey }: Pick<AccessChecks, 'requireKey'>,
): Promise<never> {
  const routes = routePaths.at(request.url)
  const [first] = routes
  if (first === undefined) throw new AppError('route_not_found')
  if (routes.every((route) => route.access.startsWith('key:'))) await requireKey(request, reply, first.access)
  const allow = [...new Set(routes.map((route) => route.method))].join(', ')
  const message = `This path does not support ${request.method}. It supports: ${allow}.`
  throw new AppError('method_not_allowed', { message, headers: { allow } })
}
