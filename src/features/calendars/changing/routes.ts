import { Type } from 'typebox'
import type { App, Idempotency } from '../../../infra/http/index.ts'
import { calendarEventSchema } from '../api.ts'
import { createBody, sendUpdates } from './api.ts'
import type { CalendarChanger } from './changer.ts'

const TAGS = ['Calendars']
const WRITE = { access: 'key:write' } as const
const calendarParams = Type.Object({
  accountId: Type.String({ description: 'An account id, or its customUserId.' }),
  calendarId: Type.String({ description: "Our id, the provider's id, or `primary`." }),
})
const eventParams = Type.Object({
  ...calendarParams.properties,
  eventId: Type.String({ description: "Our id or the provider's, of an event, a series or one instance of a series." }),
})

export function calendarChangeRoutes(
  app: App,
  { changer, idempotency }: { changer: CalendarChanger; idempotency: Idempotency },
): void {
  app.get(
    '/accounts/:accountId/calendars/:calendarId/events/:eventId',
    {
      config: { access: 'key:read' },
      schema: {
        tags: TAGS,
        summary: 'Get a calendar event',
        description:
          'Of a series, its first instance with its recurrence. Read from the provider with Cache-Control: no-cache, and when no instance is in the stored time.',
        params: eventParams,
        response: { 200: calendarEventSchema },
      },
    },
    async ({ params, headers }, reply) => {
      const event = await changer.get(params, /\bno-cache\b/i.test(headers['cache-control'] ?? ''))
      reply.header('etag', `"${event.version}"`)
      return event
    },
  )

  app.post(
    '/accounts/:accountId/calendars/:calendarId/events',
    {
      config: WRITE,
      schema: {
        tags: TAGS,
        summary: 'Create a calendar event',
        description:
          'Creates the event at the provider. With an Idempotency-Key, a request that is repeated after a failure creates it once.',
        params: calendarParams,
        querystring: Type.Object({ sendUpdates }),
        body: createBody,
        response: { 200: calendarEventSchema },
      },
    },
    idempotency.writing(async ({ params, query, body }, reply, requestKey) => {
      const { sendUpdates = 'all' } = query
      const store = await changer.create(params, body, { requestKey, sendUpdates })
      return async (tx) => {
        const event = await store(tx)
        reply.header('etag', `"${event.version}"`)
        return event
      }
    }),
  )
}
