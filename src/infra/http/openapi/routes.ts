import { createReadStream, existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { AppError } from '../../../lib/errors.ts'
import type { App } from '../server/server.ts'
import { type ApiInfo, openApiDocument } from './document.ts'
import type { Examples } from './examples.ts'
import type { OpenApiWebhooks } from './webhooks.ts'

const LIMITS = { name: 'docs', address: { limit: 120, windowMs: 60_000 } }

/** The files of the page, by name. `scripts/build.mjs` writes them. */
const FILES: Readonly<Record<string, string>> = {
  'redoc.js': 'text/javascript; charset=utf-8',
  'reference.js': 'text/javascript; charset=utf-8',
  'reference.css': 'text/css; charset=utf-8',
}

/** Redoc creates empty style elements and adds rules by script; the first hash is that of the empty text. The second is a fixed style of Redoc. Its search runs in a blob worker. */
const CSP = [
  `default-src 'none'`,
  `script-src 'self'`,
  `style-src 'self' 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=' 'sha256-QMIg+bpjm3JdElJ388KYke01izlUW0UoNOeKjpMxdgc='`,
  `img-src data:`,
  `connect-src 'self'`,
  `worker-src blob:`,
  `base-uri 'none'`,
  `form-action 'none'`,
  `frame-ancestors 'none'`,
].join('; ')

/**
 * Adds `GET /openapi.json`, and `GET /docs` with its files. They describe all routes of the server, also those added later.
 * Nothing stays in memory between requests: the document is built, and the files are read, for each request.
 */
export function openApiRoutes(app: App, info: ApiInfo, webhooks?: OpenApiWebhooks): void {
  const config = { access: 'public', rateLimit: LIMITS } as const

  app.get(
    '/openapi.json',
    {
      config,
      schema: { tags: ['Service'], summary: 'This description, as OpenAPI 3.1', produces: ['application/json'] },
    },
    async (_request, reply) => {
      reply.header('cache-control', 'public, max-age=60')
      const examples: Examples = JSON.parse(await readFile(builtFile('examples.json'), 'utf8'))
      return openApiDocument(app.routeTable, info, { webhooks, examples })
    },
  )

  app.get('/docs', { config, schema: { hide: true } }, async (_request, reply) =>
    reply
      .type('text/html; charset=utf-8')
      .header('content-security-policy', CSP)
      .header('referrer-policy', 'no-referrer')
      .header('cache-control', 'public, max-age=60')
      .send(createReadStream(builtFile('index.html'))),
  )

  app.get<{ Params: { file: string } }>('/docs/:file', { config, schema: { hide: true } }, async (request, reply) => {
    const type = FILES[request.params.file]
    if (type === undefined) throw new AppError('route_not_found')
    return reply
      .type(type)
      .header('cache-control', 'public, max-age=3600')
      .send(createReadStream(builtFile(request.params.file)))
  })
}

/** Beside the running program. When Node runs the sources: our own files among them, and Redoc in `dist/`. */
function builtFile(name: string): URL {
  const candidates = ['./reference/', '../../../ui/reference/'].map((folder) => new URL(folder + name, import.meta.url))
  return candidates.find((file) => existsSync(file)) ?? new URL(`../../../../dist/reference/${name}`, import.meta.url)
}
