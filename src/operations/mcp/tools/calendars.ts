import * as Type from 'typebox'
import type { Availability, Calendar, CalendarEvent, List } from '../../../ui/generated/api-objects.ts'
import { shortText } from '../clean-text.ts'
import { apiPath } from '../rest-api.ts'
import { tool } from '../tool.ts'
import { ACCOUNT, CURSOR, LIMIT, TIME, TIME_ZONE } from './arguments.ts'
import { CALENDAR, eventView, viewEvent } from './event-view.ts'
import { PAGE_FACTS, pageFacts, pageSummary } from './pages.ts'

/** Enough for a day in steps of 15 minutes. */
const MAX_SLOTS = 100

const listCalendars = tool({
  name: 'list_calendars',
  title: 'List calendars',
  description: 'Lists the calendars of an account. Empty for an IMAP account without a calendar server.',
  access: 'read',
  input: { accountId: ACCOUNT, limit: LIMIT, cursor: CURSOR },
  facts: PAGE_FACTS,
  untrusted: {
    calendars: Type.Array(
      Type.Object({
        id: Type.String(),
        name: Type.String(),
        timeZone: Type.String(),
        accessRole: Type.String({ description: 'owner and writer can change events.' }),
        primary: Type.Boolean(),
      }),
    ),
  },
  async run({ accountId, limit, cursor }, { api }) {
    const path = apiPath`/accounts/${accountId}/calendars`
    const found = await api.get<List<'calendars', Calendar>>(path, { limit, cursor })
    const calendars = found.calendars.map(({ id, summary, timeZone, accessRole, primary }) => ({
      id,
      name: shortText(summary, 300),
      timeZone,
      accessRole,
      primary,
    }))
    return {
      summary: pageSummary('calendar', calendars.length, found.pagination),
      facts: pageFacts(calendars.length, found.pagination),
      untrusted: { calendars },
    }
  },
})

const listEvents = tool({
  name: 'list_events',
  title: 'List calendar events',
  description: 'Lists the events of a time range in order of their start; of a series, each instance. Times are UTC.',
  access: 'read',
  input: {
    accountId: ACCOUNT,
    calendarId: CALENDAR,
    start: TIME('Events that end after this time.'),
    end: TIME('Events that start before this time.'),
    query: Type.Optional(
      Type.String({ maxLength: 500, description: 'Words in title, description, location and attendees.' }),
    ),
    limit: LIMIT,
    cursor: CURSOR,
  },
  facts: PAGE_FACTS,
  untrusted: { events: Type.Array(eventView) },
  async run({ accountId, calendarId = 'primary', start, end, query, limit, cursor }, { api }) {
    const path = apiPath`/accounts/${accountId}/calendars/${calendarId}/events`
    const found = await api.get<List<'events', CalendarEvent>>(path, {
      timeMin: start,
      timeMax: end,
      singleEvents: true,
      orderBy: 'startTime',
      q: query,
      limit,
      cursor,
    })
    const events = found.events.map(viewEvent)
    return {
      summary: pageSummary('event', events.length, found.pagination),
      facts: pageFacts(events.length, found.pagination),
      untrusted: { events },
    }
  },
})

const findFreeTime = tool({
  name: 'find_free_time',
  title: 'Find free time',
  description: `Finds times when the owner of an account and the given participants are all free, at most ${MAX_SLOTS}. Changes nothing.`,
  access: 'read',
  input: {
    accountId: ACCOUNT,
    participants: Type.Optional(
      Type.Array(Type.String({ maxLength: 320 }), { maxItems: 20, description: 'Addresses of other people.' }),
    ),
    start: TIME('Where the first time begins.'),
    end: TIME('Where the last time ends at the latest, at most 62 days later.'),
    durationMinutes: Type.Optional(Type.Number({ minimum: 5, maximum: 1440, default: 30 })),
    timeZone: TIME_ZONE,
  },
  facts: { more: Type.Boolean({ description: 'True when there are more free times than are returned.' }) },
  untrusted: {
    free: Type.Array(Type.Object({ start: Type.String(), end: Type.String() })),
    unknown: Type.Array(Type.String(), { description: 'People whose busy times are not known; they count as busy.' }),
  },
  async run({ accountId, participants, start, end, durationMinutes, timeZone }, { api }) {
    const found = await api.send<Availability>('POST', apiPath`/accounts/${accountId}/availability`, {
      body: { participants, startTime: start, endTime: end, intervalMinutes: durationMinutes, timeZone },
    })
    const free = found.slots.filter(({ participantAvailability }) =>
      Object.values(participantAvailability).every((state) => state === 'available'),
    )
    const unknown = found.sources.filter(({ source }) => source === null).map(({ participant }) => participant)
    const shown = free.slice(0, MAX_SLOTS).map((slot) => ({ start: slot.start, end: slot.end }))
    const more = free.length > shown.length
    return {
      summary: `${free.length} free times${more ? `; the first ${shown.length} are shown. Ask for a shorter range to see the others` : ''}.`,
      facts: { more },
      untrusted: { free: shown, unknown },
    }
  },
})

export const calendarTools = [listCalendars, listEvents, findFreeTime]
