import * as Type from 'typebox'
import type { App } from '../../platform/http/index.ts'
import type { Metrics } from './metrics.ts'

interface MetricsRoutesDeps {
  metrics: Pick<Metrics, 'text' | 'contentType'>
  /** METRICS_PUBLIC. */
  isPublic: boolean
}

export function metricsRoutes(app: App, { metrics, isPublic }: MetricsRoutesDeps): void {
  app.get(
    '/metrics',
    {
      config: { access: isPublic ? 'public' : 'key:read' },
      schema: {
        tags: ['Operation'],
        operationId: 'getMetrics',
        summary: 'Get metrics of this instance',
        description:
          'In the text format of Prometheus. Scrape every instance by itself. With METRICS_PUBLIC no key is needed. docs/operations.md lists the metrics.',
        produces: ['text/plain'],
        response: { 200: Type.String() },
      },
    },
    async (_request, reply) => {
      const text = await metrics.text()
      return reply.header('content-type', metrics.contentType).header('cache-control', 'no-store').send(text)
    },
  )
}
