import type { App } from '../server/server.ts'
import { type ApiInfo, type OpenApiDocument, openApiDocument } from './document.ts'
import { DOCS_CSP, docsPage } from './page.ts'
import type { OpenApiWebhooks } from './webhooks.ts'

const LIMITS = { name: 'docs', address: { limit: 120, windowMs: 60_000 } }

/** Adds `GET /openapi.json` and `GET /docs`. They describe all routes of the server, also those added later. */
export function openApiRoutes(app: App, info: ApiInfo, webhooks?: OpenApiWebhooks): void {
  let cached: OpenApiDocument | undefined
  const document = () => {
    cached ??= openApiDocument(app.routeTable, info, webhooks)
    return cached
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
      return docsPage(app.routeTable, info, webhooks)
    },
  )
}
