import type { Static } from 'typebox'
import * as Type from 'typebox'
import { documented, nullable } from '../../platform/formats/json-schema.ts'
import { type CalendarEventView, calendarEventSchema } from '../api.ts'

const time = Type.Object(
  {
    dateTime: Type.Optional(
      Type.String({
        maxLength: 64,
        description: 'RFC 3339 with an offset, in whole seconds; absent for all-day events.',
      }),
    ),
    date: Type.Optional(
      Type.String({
        maxLength: 64,
        description: 'The day, for all-day events only. That of the end is exclusive: the day after the last one.',
      }),
    ),
    timeZone: Type.Optional(
      nullable(
        Type.String({
          maxLength: 100,
          description: 'IANA name of the zone in which the event is shown and repeated. Default: that of the calendar.',
        }),
      ),
    ),
  },
  {
    title: 'CalendarEventTimeInput',
    ...documented({ oneOf: [{ required: ['dateTime'] }, { required: ['date'] }] }),
  },
)
export type TimeBody = Static<typeof time>

/** Descriptions of 8,192 characters are the longest that are read back. */
const fields = {
  summary: Type.String({ maxLength: 1024, description: 'One line.' }),
  description: nullable(Type.String({ maxLength: 8192, description: 'Plain text. Google shows HTML in it.' })),
  location: nullable(Type.String({ maxLength: 1024, description: 'One line.' })),
  start: time,
  end: time,
  recurrence: nullable(
    Type.Array(Type.String({ maxLength: 2000 }), {
      maxItems: 20,
      description:
        'RRULE, RDATE and EXDATE lines (RFC 5545), one RRULE at most. microsoft takes one RRULE that Outlook can repeat, and nothing else.',
    }),
  ),
  attendees: nullable(
    Type.Array(
      Type.Object({
        email: Type.String({ maxLength: 320 }),
        displayName: Type.Optional(nullable(Type.String({ maxLength: 500 }))),
        optional: Type.Optional(Type.Boolean({ default: false })),
      }),
      { maxItems: 200, description: 'Replaces the stored list. Attendees who stay keep their responses.' },
    ),
  ),
  reminders: nullable(
    Type.Array(
      Type.Object({
        method: Type.Enum(['popup', 'email']),
        minutes: Type.Integer({ minimum: 0, maximum: 40_320, description: 'Before the start.' }),
      }),
      { maxItems: 5, description: 'Null: those of the calendar. microsoft has one, of method popup.' },
    ),
  ),
  busy: Type.Boolean({ description: 'False: others see the time as free.' }),
  visibility: Type.Enum(['default', 'public', 'private', 'confidential'], {
    description: 'microsoft has no public events.',
  }),
  conference: Type.Boolean({
    description:
      'True: adds a link to Google Meet or Microsoft Teams, unless there is one. imap has none. False changes nothing. When the provider creates none, `joinUrl` is null and `warnings` says so.',
  }),
}

/** The response to a creation or a change. */
export const changedEventSchema = Type.Object(
  {
    ...calendarEventSchema.properties,
    warnings: Type.Optional(
      Type.Array(Type.String(), {
        description: 'What was requested and the provider did not do, although it accepted the request. Mostly absent.',
      }),
    ),
  },
  { title: 'ChangedCalendarEvent' },
)
export type ChangedEventView = Static<typeof changedEventSchema>

/** Personal accounts at Microsoft accept a request for an online meeting, and create none. */
export function withWarnings(view: CalendarEventView, { conference }: EventBody): ChangedEventView {
  if (conference !== true || view.joinUrl !== null) return view
  const warning =
    'The provider accepted the event, but created no video conference. Personal Microsoft accounts have none; Google may add it later.'
  return { ...view, warnings: [warning] }
}

export const createBody = Type.Object(
  {
    ...Type.Partial(Type.Object(fields)).properties,
    start: fields.start,
    end: fields.end,
  },
  { title: 'NewCalendarEvent' },
)

export const updateBody = Type.Partial(Type.Object(fields), {
  title: 'CalendarEventChanges',
  description:
    'At least one field to change. Absent ones keep their value, null empties a field, and a list replaces the stored one.',
  ...documented({ minProperties: 1 }),
})
export type EventBody = Static<typeof updateBody>

export const sendUpdates = Type.Optional(
  Type.Enum(['all', 'none'], {
    default: 'all',
    description:
      'Whether the other participants receive an email. microsoft always sends it to the attendees of a meeting, and for imap the calendar server decides: with attendees, `none` is refused there.',
  }),
)
export type SendUpdates = 'all' | 'none'

export const scope = Type.Optional(
  Type.Enum(['this', 'following', 'all'], {
    description:
      'What of a series changes: this instance, it and all that follow, or the whole series. Default: what the id names.',
  }),
)
export type Scope = 'this' | 'following' | 'all'

export const respondBody = Type.Object(
  {
    response: Type.Enum(['accepted', 'tentative', 'declined']),
    comment: Type.Optional(Type.String({ maxLength: 2000, description: 'Plain text for the organizer.' })),
  },
  { title: 'InvitationResponse' },
)
