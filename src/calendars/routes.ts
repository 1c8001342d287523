import * as Type from 'typebox'
import { timestamp } from '../platform/formats/json-schema.ts'
import { pageOfAll } from '../platform/formats/pagination.ts'
import { type App, listSchema, pageQuery, pagination, wantsFresh } from '../platform/http/index.ts'
import { calendarEventSchema, calendarSchema, calendarView } from './api.ts'
import type { CalendarReader } from './read/reader.ts'

const tags = ['Calendars']
const accountId = Type.String({ description: 'An account id, or its customUserId.' })
const time = (description: string) =>
  Type.Optional(Type.String({ description: `${description} RFC 3339 with an offset.`, maxLength: 64 }))

const eventList = Type.Object({
  events: Type.Array(calendarEventSchema),
  pagination,
  source: Type.Enum(['stored', 'provider'], {
    description: 'stored: from the last sync, apart from what begins outside the stored time.',
  }),
  syncedAt: timestamp('When the list was last known to be current, at most five minutes too early.'),
})

export function calendarRoutes(app: App, reader: CalendarReader): void {
  app.get(
    '/accounts/:accountId/calendars',
    {
      config: { access: 'key:read' },
      schema: {
        tags,
        operationId: 'listCalendars',
        errors: [502, 504],
        summary: 'List the calendars of an account',
        description:
          'The primary calendar first, then by name. Empty for an imap account without a CalDAV server. A new calendar appears within a minute; with `refresh=true` or Cache-Control: no-cache, at once.',
        params: Type.Object({ accountId }),
        querystring: Type.Object({
          ...pageQuery,
          refresh: Type.Optional(
            Type.Boolean({ default: false, description: 'True: as the provider lists them now.' }),
          ),
        }),
        response: { 200: listSchema('calendars', calendarSchema) },
      },
    },
    async (request) => {
      const isFresh = request.query.refresh === true || wantsFresh(request.headers)
      const { rows, provider, accountId: id } = await reader.list(request.params.accountId, isFresh)
      const page = pageOfAll(rows, request.query, ['calendars', id], (row) => row.id)
      const unreadable = await reader.unreadable(page.items)
      const views = page.items.map((row) => calendarView(row, provider, unreadable.get(row.id)))
      return { calendars: views, pagination: page.pagination }
    },
  )

  app.get(
    '/accounts/:accountId/calendars/:calendarId/events',
    {
      config: { access: 'key:read' },
      schema: {
        tags,
        operationId: 'listCalendarEvents',
        errors: [502, 504],
        summary: 'List the events of a calendar',
        description:
          'In order of their start. Without timeMin the list begins with the first event of the calendar, without timeMax it ends with the last one, and instances of a series without an end go on until 2200. Events in the time range of the setting SYNC_CALENDAR_WINDOW are stored; other times, and any with Cache-Control: no-cache, are read from the provider. `pagination.total` is what is known so far where `totalCapped` is true.',
        params: Type.Object({
          accountId,
          calendarId: Type.String({ description: "Our id, the provider's id, or `primary`." }),
        }),
        querystring: Type.Object({
          ...pageQuery,
          timeMin: time('Only events that end after this time.'),
          timeMax: time('Only events that start before this time.'),
          singleEvents: Type.Optional(
            Type.Boolean({ default: false, description: 'True: each instance of a series, in place of the series.' }),
          ),
          orderBy: Type.Optional(
            Type.Enum(['startTime', 'updated'], { description: 'startTime only with singleEvents=true.' }),
          ),
          q: Type.Optional(
            Type.String({ maxLength: 500, description: 'Words in summary, description, location and attendees.' }),
          ),
        }),
        response: { 200: eventList },
      },
    },
    async (request) => {
      const { accountId: id, calendarId } = request.params
      const isFresh = wantsFresh(request.headers)
      const { items, ...page } = await reader.events(id, calendarId, request.query, isFresh)
      return { events: items, ...page }
    },
  )
}
