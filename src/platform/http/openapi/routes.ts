import { readFile } from 'node:fs/promises'
import { lazy } from '../../concurrency/lazy.ts'
import { AppError } from '../../errors/app-error.ts'
import { builtFile, sendBuiltFile } from '../server/responses/built-file.ts'
import type { App } from '../server/server.ts'

/** A page loads three files, and two more for the search. */
const LIMITS = { name: 'docs', address: { limit: 600, windowMs: 60_000 } }

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json; charset=utf-8',
  png: 'image/png',
  txt: 'text/plain; charset=utf-8',
}

const CSP = [
  `default-src 'none'`,
  `script-src 'self'`,
  `style-src 'self'`,
  `img-src 'self' data:`,
  `connect-src 'self'`,
  `base-uri 'none'`,
  `form-action 'none'`,
  `frame-ancestors 'none'`,
].join('; ')

/**
 * Adds `GET /openapi.json`, and the documentation at `/docs`. All of them are files of `dist/docs`, written by the build from the
 * folder `docs` and the committed `openapi.json`; `npm run check` compares that with the routes.
 */
export function openApiRoutes(app: App): void {
  const config = { access: 'public', rateLimit: LIMITS } as const
  const readNames = lazy(
    async (): Promise<string[]> => JSON.parse(await readFile(builtFile('docs', 'manifest.json'), 'utf8')),
  )

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
    (request, reply) => sendBuiltFile(request, reply, { folder: 'docs', name: 'openapi.json', type: TYPES.json ?? '' }),
  )

  app.get('/docs', { config, schema: { hide: true } }, (request, reply) => {
    reply.headers({ 'content-security-policy': CSP, 'referrer-policy': 'no-referrer' })
    return sendBuiltFile(request, reply, { folder: 'docs', name: 'index.html', type: TYPES.html ?? '' })
  })

  app.get<{ Params: { '*': string } }>('/docs/*', { config, schema: { hide: true } }, async (request, reply) => {
    const path = request.params['*']
    // Relative, because the path at which a proxy serves the service may be unknown here.
    if (path === '') return reply.redirect('../docs', 301)
    const names = await readNames()
    const name = [path, `${path}.html`].find((one) => names.includes(one))
    const type = TYPES[name?.slice(name.lastIndexOf('.') + 1) ?? '']
    if (name === undefined || type === undefined) throw new AppError('route_not_found')
    reply.headers({ 'content-security-policy': CSP, 'referrer-policy': 'no-referrer' })
    return sendBuiltFile(request, reply, { folder: 'docs', name, type })
  })
}
