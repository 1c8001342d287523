import { AppError } from '../../errors/app-error.ts'
import { sendBuiltFile } from '../server/responses/built-file.ts'
import type { App } from '../server/server.ts'

const LIMITS = { name: 'docs', address: { limit: 120, windowMs: 60_000 } }

/** The files that the page loads, by name. */
const FILES: Readonly<Record<string, string>> = {
  'redoc.js': 'text/javascript; charset=utf-8',
  'reference.js': 'text/javascript; charset=utf-8',
  'reference.css': 'text/css; charset=utf-8',
}

/** The hash of the empty text. Redoc creates empty style elements and adds rules by script. */
const EMPTY_STYLE = 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='
/** The style sheet of perfect-scrollbar 1.5.5, which Redoc's build inserts even with native scroll bars. */
const SCROLLBAR_STYLE = 'sha256-QMIg+bpjm3JdElJ388KYke01izlUW0UoNOeKjpMxdgc='

const CSP = [
  `default-src 'none'`,
  `script-src 'self'`,
  `style-src 'self' '${EMPTY_STYLE}' '${SCROLLBAR_STYLE}'`,
  `img-src data:`,
  `connect-src 'self'`,
  // Redoc's search.
  `worker-src blob:`,
  `base-uri 'none'`,
  `form-action 'none'`,
  `frame-ancestors 'none'`,
].join('; ')

/**
 * Adds `GET /openapi.json`, and `GET /docs` with its files. All of them are files of `dist/reference`, written by the build from the
 * committed `openapi.json`; `npm run check` compares that with the routes. Nothing stays in memory between requests.
 */
export function openApiRoutes(app: App): void {
  const config = { access: 'public', rateLimit: LIMITS } as const

  app.get(
    '/openapi.json',
    {
      config,
      schema: {
        tags: ['Operation'],
        operationId: 'getOpenApiDocument',
        summary: 'Get this description as OpenAPI 3.1',
        produces: ['application/json'],
      },
    },
    (request, reply) =>
      sendBuiltFile(request, reply, {
        folder: 'reference',
        name: 'openapi.json',
        type: 'application/json; charset=utf-8',
      }),
  )

  app.get('/docs', { config, schema: { hide: true } }, (request, reply) => {
    reply.headers({ 'content-security-policy': CSP, 'referrer-policy': 'no-referrer' })
    return sendBuiltFile(request, reply, { folder: 'reference', name: 'index.html', type: 'text/html; charset=utf-8' })
  })

  app.get<{ Params: { file: string } }>('/docs/:file', { config, schema: { hide: true } }, async (request, reply) => {
    const { file: name } = request.params
    const type = FILES[name]
    if (type === undefined) throw new AppError('route_not_found')
    return sendBuiltFile(request, reply, { folder: 'reference', name, type })
  })
}
