import type { App } from '../server/server.ts'
import { type ApiInfo, type OpenApiDocument, openApiDocument } from './document.ts'
import type { Notices } from './notices.ts'
import { DOCS_CSP, docsPage } from './page.ts'

const LIMITS = { name: 'docs', address: { limit: 120, windowMs: 60_000 } }

/** `GET /openapi.json` and `GET /docs`, made from the routes of the server; add them last or first, it does not matter. */
export function openApiRoutes(app: App, info: ApiInfo, notices?: Notices): void {
  let made: OpenApiDocument | undefined
  const document = () => {
    made ??= openApiDocument(app.routeTable, info, notices)
    return made
  }

  app.get(
    '/openapi.json',
    {
      config: { access: 'public', rateLimit: LIMITS },
      schema: { tags: ['Service'], summary: 'This description, as OpenAPI 3.1', produces: ['application/json'] },
    },
    async (_request, reply) => {
      reply.header('cache-control', 'public, max-age=60')
      return document()
    },
  )

  app.get(
    '/docs',
    { config: { access: 'public', rateLimit: LIMITS }, schema: { hide: true } },
    async (_request, reply) => {
      reply
        .type('text/html; charset=utf-8')
        .header('content-security-policy', DOCS_CSP)
        .header('cache-control', 'public, max-age=60')
      return docsPage(app.routeTable, info, notices)
    },
  )
}
