import type { FastifyBaseLogger, FastifyReply, FastifyRequest } from 'fastify'
import type { Log } from '../../log/index.ts'

/** Probes come every few seconds and would bury everything else. */
const QUIET_ROUTES = ['/health', '/health/live', '/health/ready']

/**
 * One line per request when its answer is out. The route's pattern, never the path or the query: these may hold a
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
  else if (QUIET_ROUTES.includes(route)) log.debug(message, fields)
  // A provider or a callback that failed, or a service that stops: not a bug of ours.
  else if (status > 500) log.warn(message, { ...fields, error: cause })
  else log.info(message, fields)
}

/** The caller hung up before there was an answer; no response ends, so nothing else would tell of the request. */
export function logAborted(log: Log, request: FastifyRequest): void {
  const route = request.routeOptions.url ?? 'unknown'
  log.info(`${request.method} ${route} was given up by the caller`, {
    operation: 'http.request',
    requestId: request.id,
    metadata: { method: request.method, route },
  })
}

/** What fastify itself has to say (a reply sent twice, a broken stream) goes to our log; requests are logged above. */
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
