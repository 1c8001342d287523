import { type Static, Type } from 'typebox'
import { nullable, timestamp } from '../../lib/json-schema.ts'
import { declareEvent, EXAMPLE_ACCOUNT, providerSchema } from '../catalogue.ts'

const eventTime = Type.Object(
  {
    dateTime: Type.Optional(timestamp('In UTC; absent for all-day events.')),
    date: Type.Optional(Type.String({ format: 'date', description: 'The day, for all-day events only.' })),
    timeZone: nullable(Type.String({ description: 'IANA name of the time zone in which the event was created.' })),
  },
  { title: 'CalendarEventTime' },
)

const attendee = Type.Object(
  {
    email: Type.String(),
    displayName: nullable(Type.String()),
    responseStatus: Type.Enum(['needsAction', 'accepted', 'tentative', 'declined']),
    optional: Type.Boolean(),
    organizer: Type.Boolean(),
    self: Type.Boolean({ description: 'True for the account itself.' }),
  },
  { title: 'CalendarAttendee' },
)

/** A calendar event as the API and events show it. */
const calendarEvent = Type.Object(
  {
    id: Type.String(),
    accountId: Type.String(),
    provider: providerSchema,
    calendarId: Type.String(),
    providerEventId: Type.String(),
    summary: Type.String(),
    description: nullable(Type.String()),
    location: nullable(Type.String()),
    start: eventTime,
    end: eventTime,
    status: Type.Enum(['confirmed', 'tentative', 'cancelled']),
    organizer: nullable(Type.Object({ email: Type.String(), displayName: nullable(Type.String()) })),
    attendees: Type.Array(attendee),
    recurrence: Type.Array(Type.String(), {
      description: 'RRULE, RDATE and EXDATE lines (RFC 5545); empty for a single event.',
    }),
    recurringEventId: nullable(Type.String({ description: 'The series to which the event belongs.' })),
    joinUrl: nullable(Type.String({ description: 'Link to the video conference.' })),
    createdAt: timestamp(),
    updatedAt: timestamp(),
  },
  { title: 'CalendarEvent' },
)

const REVIEW: Static<typeof calendarEvent> = {
  id: 'cev_01k9zy2b4d6f8h1k3n5q7s9v2x',
  accountId: EXAMPLE_ACCOUNT.accountId,
  provider: EXAMPLE_ACCOUNT.provider,
  calendarId: 'cal_01k9zv4c6e8g1j3m5p7r9t2v4x',
  providerEventId: '6b1f2f0e-2f2c-4f0e-9a5c-0d6b8f4c7e21',
  summary: 'Quarterly review',
  description: 'Figures of the third quarter.',
  location: 'Room 4',
  start: { dateTime: '2026-11-24T09:00:00.000Z', timeZone: 'Europe/Berlin' },
  end: { dateTime: '2026-11-24T10:00:00.000Z', timeZone: 'Europe/Berlin' },
  status: 'confirmed',
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
  joinUrl: null,
  createdAt: '2026-11-20T08:20:00.000Z',
  updatedAt: '2026-11-20T08:20:00.000Z',
}

const of = (version: number, changes: Partial<typeof REVIEW> = {}) => ({
  ...EXAMPLE_ACCOUNT,
  objectId: REVIEW.id,
  version,
  data: { ...REVIEW, ...changes },
})

export const calendarEvents = {
  'calendar.event.created': declareEvent('An event was added to a calendar.', calendarEvent, of(1)),
  'calendar.event.updated': declareEvent(
    'A calendar event was moved or changed, or an attendee responded.',
    calendarEvent,
    of(2, { location: 'Room 7', updatedAt: '2026-11-20T08:41:12.000Z' }),
  ),
  'calendar.event.deleted': declareEvent(
    'A calendar event was deleted. `data` holds its last known state, with status cancelled.',
    calendarEvent,
    of(3, { status: 'cancelled', updatedAt: '2026-11-20T09:05:33.000Z' }),
  ),
}
