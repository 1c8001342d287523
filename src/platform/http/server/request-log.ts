import type { IncomingMessage } from 'node:http'
import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import type { Ids } from '../../ids.ts'
import type { Log } from '../../log/index.ts'

/** Probes arrive every few seconds. */
const PROBES = ['/health', '/health/live', '/health/ready']
const PORTAL = /^\/admin(?:\/|$)/
const ACCEPTED_ID = /^[A-Za-z0-9._-]{1,128}$/

/** The caller's `X-Request-Id` if it is safe in logs and headers, else a new id. */
export function requestId(ids: Ids): (request: IncomingMessage) => string {
  return (request) => {
    const sent = request.headers['x-request-id']
    return typeof sent === 'string' && ACCEPTED_ID.test(sent) ? sent : ids('req')
  }
}

/**
 * Logs one line per request after its response. Logs the route pattern, never the path or the query, which may contain a
 * session code.
 */
export function logRequest(log: Log, request: FastifyRequest, reply: FastifyReply, cause: unknown): void {
  const route = request.routeOptions.url ?? 'unknown'
  const status = reply.statusCode
  const fields = {
    operation: 'http.request',
    requestId: request.id,
    durationMs: Math.round(reply.elapsedTime * 10) / 10,
    metadata: { method: request.method, route, status, ...(request.caller && { caller: request.caller.owner }) },
  }
  const message = `${request.method} ${route} ${status}`
  if (status === 500) log.error(message, { ...fields, error: cause })
  else if (isQuiet(request, route)) log.debug(message, fields)
  // A provider or an endpoint of the application failed, or the service is stopping: not a bug in this service.
  else if (status > 500) log.warn(message, { ...fields, error: cause })
  else log.info(message, fields)
}

/** Logs a request whose client disconnected before the response; `logRequest` does not run for it. */
export function logAborted(log: Log, request: FastifyRequest): void {
  const route = request.routeOptions.url ?? 'unknown'
  log[isQuiet(request, route) ? 'debug' : 'info'](
    `${request.method} ${route}: the client disconnected before the response.`,
    {
      operation: 'http.request',
      requestId: request.id,
      metadata: { method: request.method, route },
    },
  )
}

/** Probes and the portal's pages, which poll, would drown out the requests of applications. */
function isQuiet({ caller }: FastifyRequest, route: string): boolean {
  return PROBES.includes(route) || PORTAL.test(route) || caller?.isPortal === true
}

/** Fastify's own warnings (a reply sent twice, a broken stream) go to our log. Its request lines are disabled. */
export function fastifyLog(log: Log): FastifyBaseLogger {
  const pass =
    (level: 'warn' | 'error' | 'fatal') =>
    (first: unknown, text?: unknown): void => {
      const message = typeof first === 'string' ? first : typeof text === 'string' ? text : 'http server'
      log[level](message, { operation: 'http.server', error: errorIn(first) })
    }
  const silent = (): void => {}
  const bridge: FastifyBaseLogger = {
    level: 'warn',
    silent,
    trace: silent,
    debug: silent,
    info: silent,
    warn: pass('warn'),
    error: pass('error'),
    fatal: pass('fatal'),
    child: () => bridge,
  }
  return bridge
}

function errorIn(value: unknown): unknown {
  if (value instanceof Error) return value
  return value !== null && typeof value === 'object' && 'err' in value ? value.err : undefined
}
