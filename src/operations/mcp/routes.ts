import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '../../platform/errors/app-error.ts'
import { type App, sentKey } from '../../platform/http/index.ts'
import type { Log } from '../../platform/log/index.ts'
import type { Clock } from '../../platform/time/clock.ts'
import { requestsInProcess } from './in-process.ts'

export interface McpRoutesDeps {
  version: string
  clock: Clock
  log: Log
  /** Hides the tools that write from every key. */
  isReadOnly: boolean
  /** Origins of pages that may call beside that of the service. */
  allowedOrigins: readonly string[]
}

/** What clients in browsers send. */
const CORS_HEADERS = 'authorization, x-api-key, mcp-protocol-version, mcp-method, mcp-name'
/** Headers of a response of the library that only concern its connection. */
const NOT_COPIED = ['connection', 'keep-alive', 'transfer-encoding', 'content-length']

/**
 * Streamable HTTP without sessions: each POST is complete by itself, so any instance may receive it. GET and DELETE, which
 * only sessions need, are 405. The tools send requests to the routes of this server, as the same caller.
 */
export function mcpRoutes(app: App, deps: McpRoutesDeps): void {
  const origins = new Set([new URL(app.publicUrl).origin, ...deps.allowedOrigins])
  app.post(
    '/mcp',
    {
      config: {
        access: 'key:read',
        repeatable: true,
        ...(deps.allowedOrigins.length > 0 && { cors: async () => deps.allowedOrigins, corsHeaders: CORS_HEADERS }),
      },
      schema: { hide: true },
    },
    async (request, reply) => {
      const apiKey = sentKey(request)
      // The cookie of the portal is for its pages.
      if (apiKey === undefined) throw new AppError('unauthorized', { headers: { 'www-authenticate': 'Bearer' } })
      checkOrigin(request, origins)
      const { createMcpHandler, mcpServer } = await import('./protocol.ts')
      const isReadOnly = deps.isReadOnly || !request.caller?.scopes.includes('write')
      const handler = createMcpHandler(
        () =>
          mcpServer({
            ...deps,
            apiKey,
            isReadOnly,
            sendRequest: requestsInProcess(app, request),
            requestId: request.id,
          }),
        { maxSubscriptions: 0 },
      )
      const gone = new AbortController()
      reply.raw.once('close', () => gone.abort())
      const response = await handler.fetch(webRequest(request, app.publicUrl, gone.signal), {
        parsedBody: request.body ?? null,
      })
      return sendWebResponse(reply, response)
    },
  )
}

/** Pages of other origins may not use the service of a browser's network (DNS rebinding). Programs send no Origin. */
function checkOrigin({ headers: { origin } }: FastifyRequest, allowed: ReadonlySet<string>): void {
  if (origin === undefined || allowed.has(origin)) return
  throw new AppError('forbidden', {
    message: 'Pages of this origin may not use the MCP server. The operator can allow it with MCP_ALLOWED_ORIGINS.',
  })
}

function webRequest({ headers, url }: FastifyRequest, publicUrl: string, signal: AbortSignal): Request {
  const copied = new Headers()
  for (const [name, value] of Object.entries(headers)) if (typeof value === 'string') copied.set(name, value)
  return new Request(new URL(url, publicUrl), { method: 'POST', headers: copied, signal })
}

function sendWebResponse(reply: FastifyReply, response: Response): FastifyReply {
  reply.code(response.status)
  for (const [name, value] of response.headers) if (!NOT_COPIED.includes(name)) reply.header(name, value)
  return reply.send(response.body === null ? undefined : Readable.fromWeb(response.body))
}
