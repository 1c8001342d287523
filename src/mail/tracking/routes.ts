import type { FastifyRequest } from 'fastify'
import * as Type from 'typebox'
import { AppError } from '../../platform/errors/app-error.ts'
import type { App } from '../../platform/http/index.ts'
import type { Log } from '../../platform/log/index.ts'
import { trackingSchema, trackingView } from './api.ts'
import type { Tracking } from './service.ts'
import { identifyVisitor } from './visitor.ts'

/** A transparent image of one pixel. */
const PIXEL = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')
const LINK_LIMITS = { name: 'tracking-links', address: { limit: 300, windowMs: 60_000 } }
const tags = ['Tracking']
const token = Type.String({ maxLength: 64 })

/** The pixel and the links are for mail programs, so the document of the API leaves them out. */
export function trackingRoutes(app: App, { tracking, log }: { tracking: Tracking; log: Log }): void {
  app.get(
    '/messages/tracking/:id',
    {
      config: { access: 'key:read' },
      schema: {
        tags,
        operationId: 'getMessageTracking',
        summary: 'Get the opens, clicks and replies of a message',
        params: Type.Object({ id: Type.String({ description: 'The id of the tracking, or of the sent message.' }) }),
        response: { 200: trackingSchema },
      },
    },
    async ({ params }) => {
      const { row, events } = await tracking.get(params.id)
      return trackingView(row, events)
    },
  )

  app.get(
    '/t/:token.gif',
    {
      config: { access: 'public' },
      schema: { hide: true, params: Type.Object({ token }) },
    },
    async (request, reply) => {
      if (isVisit(request)) {
        // A message looks right even while an open cannot be counted.
        await tracking
          .opened(request.params.token, identifyVisitor(request.headers, request.ip))
          .catch((error: unknown) => {
            log.warn('An open of a message could not be counted.', { operation: 'tracking.open', error })
          })
      }
      return reply.header('cache-control', 'no-store').type('image/gif').send(PIXEL)
    },
  )

  app.get(
    '/t/:token/:number',
    {
      config: { access: 'public', rateLimit: LINK_LIMITS },
      schema: {
        hide: true,
        params: Type.Object({ token, number: Type.Integer({ minimum: 1, maximum: 1000 }) }),
      },
    },
    async (request, reply) => {
      const visitor = isVisit(request) ? identifyVisitor(request.headers, request.ip) : undefined
      const url = await tracking.followLink(request.params.token, request.params.number, visitor)
      if (url === undefined) {
        throw new AppError('not_found', { message: 'This link is not valid any more. Open the message again.' })
      }
      return reply
        .header('cache-control', 'no-store')
        .header('referrer-policy', 'no-referrer')
        .redirect(new URL(url).href, 302)
    },
  )
}

/** Scanners ask for the headers only. */
function isVisit(request: FastifyRequest): boolean {
  return request.method === 'GET'
}
