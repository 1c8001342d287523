import { declareEvent, type EventOf, EXAMPLE_ACCOUNT } from '../events/index.ts'
import type { ProviderName } from '../providers/contract/index.ts'
import { type CalendarEventView, calendarEventSchema } from './api.ts'

const REVIEW: CalendarEventView = {
  id: 'cev_01k9zy2b4d6f8h1k3n5q7s9v2x',
  accountId: EXAMPLE_ACCOUNT.accountId,
  provider: EXAMPLE_ACCOUNT.provider,
  calendarId: 'cal_01k9zv4c6e8g1j3m5p7r9t2v4x',
  providerEventId: '6b1f2f0e-2f2c-4f0e-9a5c-0d6b8f4c7e21',
  iCalUID: '6b1f2f0e-2f2c-4f0e-9a5c-0d6b8f4c7e21@acme.example',
  summary: 'Quarterly review',
  description: 'Figures of the third quarter.',
  location: 'Room 4',
  start: { dateTime: '2026-11-24T09:00:00.000Z', timeZone: 'Europe/Berlin' },
  end: { dateTime: '2026-11-24T10:00:00.000Z', timeZone: 'Europe/Berlin' },
  status: 'confirmed',
  busy: true,
  visibility: 'default',
  organizer: { email: 'ada@acme.example', displayName: 'Ada Okafor' },
  attendees: [
    {
      email: 'ada@acme.example',
      displayName: 'Ada Okafor',
      responseStatus: 'accepted',
      optional: false,
      organizer: true,
      self: true,
    },
    {
      email: 'lin@northwind.example',
      displayName: null,
      responseStatus: 'needsAction',
      optional: false,
      organizer: false,
      self: false,
    },
  ],
  recurrence: [],
  recurringEventId: null,
  originalStart: null,
  joinUrl: null,
  reminders: [{ method: 'popup', minutes: 10 }],
  htmlLink: null,
  version: 1,
  createdAt: '2026-11-20T08:20:00.000Z',
  updatedAt: '2026-11-20T08:20:00.000Z',
}

const of = (version: number, changes: Partial<CalendarEventView> = {}) => ({
  ...EXAMPLE_ACCOUNT,
  objectId: REVIEW.id,
  version,
  data: { ...REVIEW, version, ...changes },
})

export const calendarEvents = {
  'calendar.event.created': declareEvent(
    'An event was added to a calendar. Of a series, its instances have no events of their own.',
    calendarEventSchema,
    of(1),
  ),
  'calendar.event.updated': declareEvent(
    'A calendar event or one instance of a series was moved or changed, or an attendee responded.',
    calendarEventSchema,
    of(2, { location: 'Room 7', updatedAt: '2026-11-20T08:41:12.000Z' }),
  ),
  'calendar.event.deleted': declareEvent(
    'A calendar event, or one instance of a series, was deleted. `data` holds its last known state, with status cancelled.',
    calendarEventSchema,
    of(3, { status: 'cancelled', updatedAt: '2026-11-20T09:05:33.000Z' }),
  ),
}

export function changeEvent(
  type: keyof typeof calendarEvents,
  provider: ProviderName,
  data: CalendarEventView,
): EventOf<typeof calendarEvents> {
  return { type, accountId: data.accountId, provider, objectId: data.id, version: data.version, data }
}
