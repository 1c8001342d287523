import * as Type from 'typebox'
import { type App, done, type Idempotency, ifMatchVersion, wantsFresh, withVersion } from '../../platform/http/index.ts'
import { calendarEventSchema } from '../api.ts'
import { changedEventSchema, createBody, respondBody, scope, sendUpdates, updateBody } from './api.ts'
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
        operationId: 'getCalendarEvent',
        errors: [502, 504],
        summary: 'Get a calendar event',
        description:
          'Of a series, its first instance with its recurrence. Read from the provider with Cache-Control: no-cache, and when no instance is in the stored time.',
        params: eventParams,
        response: { 200: calendarEventSchema },
      },
    },
    async ({ params, headers }, reply) => withVersion(reply, await changer.get(params, wantsFresh(headers))),
  )

  app.post(
    '/accounts/:accountId/calendars/:calendarId/events',
    {
      config: WRITE,
      schema: {
        tags: TAGS,
        operationId: 'createCalendarEvent',
        errors: [502, 504],
        summary: 'Create a calendar event',
        description:
          'Creates the event at the provider. With an Idempotency-Key, a request that is repeated after a failure creates it once.',
        params: calendarParams,
        querystring: Type.Object({ sendUpdates }),
        body: createBody,
        response: { 200: changedEventSchema },
      },
    },
    idempotency.writing(async ({ params, query, body }, reply, requestKey) => {
      const { sendUpdates = 'all' } = query
      const store = await changer.create(params, body, { requestKey, sendUpdates })
      return async (tx) => withVersion(reply, await store(tx))
    }),
  )

  app.patch(
    '/accounts/:accountId/calendars/:calendarId/events/:eventId',
    {
      config: WRITE,
      schema: {
        tags: TAGS,
        operationId: 'updateCalendarEvent',
        errors: [502, 504],
        summary: 'Change a calendar event',
        description:
          'Changes the given fields, at the provider too. With `scope=following` the series ends before the instance, and the response is a new series that begins with it; with `scope=all`, `start` and `end` are those of the first instance. Without `If-Match` the last request wins. With it, and another version than the current one, the response is 409 with the current event in `error.current`.',
        params: eventParams,
        querystring: Type.Object({ scope, sendUpdates }),
        headers: Type.Object({
          'if-match': Type.Optional(
            Type.String({ description: 'The `version` of the event that the request is for, in quotes or not.' }),
          ),
        }),
        body: updateBody,
        response: { 200: changedEventSchema },
      },
    },
    async ({ params, query, headers, body }, reply) => {
      const { scope, sendUpdates = 'all' } = query
      const ifMatch = ifMatchVersion(headers['if-match'])
      return withVersion(reply, await changer.update(params, body, { scope, sendUpdates, ifMatch }))
    },
  )

  app.delete(
    '/accounts/:accountId/calendars/:calendarId/events/:eventId',
    {
      config: WRITE,
      schema: {
        tags: TAGS,
        operationId: 'deleteCalendarEvent',
        errors: [502, 504],
        summary: 'Delete a calendar event',
        description:
          'Deletes the event, the series or the instance that the id names, at the provider too. With `scope=following` the series ends before the instance.',
        params: eventParams,
        querystring: Type.Object({ scope, sendUpdates }),
        response: { 200: done },
      },
    },
    async ({ params, query }) => {
      const { scope, sendUpdates = 'all' } = query
      await changer.remove(params, { scope, sendUpdates })
      return { success: true, message: 'The event was deleted.' }
    },
  )

  app.post(
    '/accounts/:accountId/calendars/:calendarId/events/:eventId/respond',
    {
      config: WRITE,
      schema: {
        tags: TAGS,
        operationId: 'respondToCalendarEvent',
        errors: [502, 504],
        summary: 'Respond to an invitation',
        description:
          'Accepts or declines for the account, at the provider too. `scope` is this or all. Outlook removes a declined meeting from the calendar: the response is then the event with status cancelled. 409 not_supported when the account is not invited.',
        params: eventParams,
        querystring: Type.Object({ scope, sendUpdates }),
        body: respondBody,
        response: { 200: calendarEventSchema },
      },
    },
    idempotency.writing(async ({ params, query, body }, reply) => {
      const { scope, sendUpdates = 'all' } = query
      const store = await changer.respond(params, body, { scope, sendUpdates })
      return async (tx) => withVersion(reply, await store(tx))
    }),
  )
}
