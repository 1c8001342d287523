import { AppError } from '../../platform/errors/app-error.ts'
import type { App } from '../../platform/http/index.ts'
import { detailedSchema, statusSchema, summarySchema } from './api.ts'
import type { Health } from './health.ts'

/** No rate limit for `live` and `ready`: monitors poll them often, perhaps from the address of a proxy that all clients share. */
const PUBLIC = { access: 'public' } as const
const RETRY_AFTER_SECONDS = '5'

export function healthRoutes(app: App, { health }: { health: Health }): void {
  const schema = { tags: ['Operation'] }

  app.get(
    '/health',
    {
      config: { ...PUBLIC, rateLimit: { address: { limit: 600, windowMs: 60_000 } } },
      schema: {
        ...schema,
        operationId: 'getHealth',
        summary: 'Get the health of the service',
        response: { 200: summarySchema },
      },
    },
    async (_request, reply) => {
      reply.header('cache-control', 'no-store')
      return { success: true, data: await health.summary() }
    },
  )

  app.get(
    '/health/detailed',
    {
      config: { access: 'key:read' },
      schema: {
        ...schema,
        operationId: 'getDetailedHealth',
        summary: 'Get the health of each part of the service',
        response: { 200: detailedSchema },
      },
    },
    async () => ({ success: true, data: await health.detailed() }),
  )

  app.get(
    '/health/live',
    {
      config: PUBLIC,
      schema: {
        ...schema,
        operationId: 'getLiveness',
        summary: 'Check that the process is alive',
        response: { 200: statusSchema },
      },
    },
    async () => ({ success: true, data: { status: 'alive' } }),
  )

  app.get(
    '/health/ready',
    {
      config: PUBLIC,
      schema: {
        ...schema,
        operationId: 'getReadiness',
        errors: [503],
        summary: 'Check that the service accepts requests',
        description: '503 while the service starts, migrates or drains, and while its database does not respond.',
        response: { 200: statusSchema },
      },
    },
    async () => {
      const message = await health.notReady()
      if (message === undefined) return { success: true, data: { status: 'ready' } }
      throw new AppError('not_ready', { message, headers: { 'retry-after': RETRY_AFTER_SECONDS } })
    },
  )
}
