import type { Static, TObject } from 'typebox'
import * as Type from 'typebox'
import type { CalendarEvent, ChangedCalendarEvent, Done } from '../../../ui/generated/api-objects.ts'
import { apiPath } from '../rest-api.ts'
import { type ToolContext, type ToolResult, tool } from '../tool.ts'
import { ACCOUNT, CONFIRMATION_TOKEN, TIME_ZONE } from './arguments.ts'
import { CONFIRMATION_FACTS, confirmationNeeded } from './confirmation.ts'
import { CALENDAR, eventView, viewEvent } from './event-view.ts'

const EVENT = Type.String({ minLength: 1, maxLength: 2048, description: 'The id of an event.' })
const WHEN = (description: string) =>
  Type.String({
    maxLength: 64,
    description: `${description} RFC 3339 with an offset, such as 2026-11-25T09:00:00Z, or a day such as 2026-11-25 for an all-day event.`,
  })
const NOTIFY = Type.Optional(
  Type.Boolean({
    default: false,
    description:
      'True: the calendar sends mail to the attendees; needs a second call with confirmationToken. False: nobody gets mail; for Microsoft and IMAP accounts events with attendees are then refused.',
  }),
)
const SCOPE = Type.Optional(
  Type.Enum(['this', 'following', 'all'], {
    type: 'string',
    description: 'For an event of a series: this instance, it and all that follow, or the whole series.',
  }),
)

const details = {
  title: Type.Optional(Type.String({ maxLength: 1024 })),
  description: Type.Optional(Type.String({ maxLength: 8192 })),
  location: Type.Optional(Type.String({ maxLength: 1024 })),
  timeZone: TIME_ZONE,
  attendees: Type.Optional(
    Type.Array(Type.String({ maxLength: 320 }), { maxItems: 100, description: 'Addresses. Replaces the list.' }),
  ),
}
const CHANGE_FACTS = { ...CONFIRMATION_FACTS, eventId: Type.Optional(Type.String()) }
const CHANGE_OUTPUT = {
  event: Type.Optional(eventView),
  request: Type.Optional(Type.Object({}, { additionalProperties: true, description: 'What the second call does.' })),
}

const createEvent = tool({
  name: 'create_event',
  title: 'Create a calendar event',
  description:
    'Creates an event. With notifyAttendees and attendees it does nothing at first and returns confirmationToken: call again with the same arguments and the token after the user has agreed.',
  access: 'write',
  input: {
    accountId: ACCOUNT,
    calendarId: CALENDAR,
    ...details,
    title: Type.String({ minLength: 1, maxLength: 1024 }),
    start: WHEN('When it starts.'),
    end: WHEN('When it ends; exclusive.'),
    notifyAttendees: NOTIFY,
    confirmationToken: CONFIRMATION_TOKEN,
  },
  facts: CHANGE_FACTS,
  untrusted: CHANGE_OUTPUT,
  async run({ confirmationToken, ...input }, context) {
    const { accountId, calendarId = 'primary', attendees = [] } = input
    const sendsMail = input.notifyAttendees === true && attendees.length > 0
    const agreed = agreement('create_event', sendsMail, confirmationToken, input, context)
    if ('summary' in agreed) return agreed
    const path = apiPath`/accounts/${accountId}/calendars/${calendarId}/events`
    const event = await context.api.send<ChangedCalendarEvent>('POST', path, {
      query: { sendUpdates: sendsMail ? 'all' : 'none' },
      body: eventBody(input),
      ...(agreed.idempotencyKey !== undefined && { headers: { 'idempotency-key': agreed.idempotencyKey } }),
    })
    return changed('The event was created.', event)
  },
})

const updateEvent = tool({
  name: 'update_event',
  title: 'Change a calendar event',
  description:
    'Changes the given fields of an event. With notifyAttendees it does nothing at first and returns confirmationToken: call again with the same arguments and the token after the user has agreed.',
  access: 'write',
  isDestructive: true,
  isIdempotent: true,
  input: {
    accountId: ACCOUNT,
    calendarId: CALENDAR,
    eventId: EVENT,
    ...details,
    start: Type.Optional(WHEN('When it starts.')),
    end: Type.Optional(WHEN('When it ends; exclusive.')),
    scope: SCOPE,
    notifyAttendees: NOTIFY,
    confirmationToken: CONFIRMATION_TOKEN,
  },
  facts: CHANGE_FACTS,
  untrusted: CHANGE_OUTPUT,
  async run({ confirmationToken, ...input }, context) {
    const { accountId, calendarId = 'primary', eventId, scope, notifyAttendees = false } = input
    const path = apiPath`/accounts/${accountId}/calendars/${calendarId}/events/${eventId}`
    const agreed = agreement('update_event', notifyAttendees, confirmationToken, input, context)
    if ('summary' in agreed) return withEvent(agreed, await context.api.get<CalendarEvent>(path))
    const event = await context.api.send<ChangedCalendarEvent>('PATCH', path, {
      query: { scope, sendUpdates: notifyAttendees ? 'all' : 'none' },
      body: eventBody(input),
    })
    return changed('The event was changed.', event)
  },
})

const deleteEvent = tool({
  name: 'delete_event',
  title: 'Delete a calendar event',
  description:
    'Deletes an event, a series or one instance of it. With notifyAttendees it does nothing at first and returns confirmationToken: call again with the same arguments and the token after the user has agreed.',
  access: 'write',
  isDestructive: true,
  isIdempotent: true,
  input: {
    accountId: ACCOUNT,
    calendarId: CALENDAR,
    eventId: EVENT,
    scope: SCOPE,
    notifyAttendees: NOTIFY,
    confirmationToken: CONFIRMATION_TOKEN,
  },
  facts: CHANGE_FACTS,
  untrusted: CHANGE_OUTPUT,
  async run({ confirmationToken, ...input }, context) {
    const { accountId, calendarId = 'primary', eventId, scope, notifyAttendees = false } = input
    const path = apiPath`/accounts/${accountId}/calendars/${calendarId}/events/${eventId}`
    const agreed = agreement('delete_event', notifyAttendees, confirmationToken, input, context)
    if ('summary' in agreed) return withEvent(agreed, await context.api.get<CalendarEvent>(path))
    await context.api.send<Done>('DELETE', path, { query: { scope, sendUpdates: notifyAttendees ? 'all' : 'none' } })
    return { summary: 'The event was deleted.', facts: { status: 'done' } }
  },
})

/** The result of the first call of a change that sends mail to others; else the key that makes the change once. */
function agreement(
  action: string,
  sendsMail: boolean,
  token: string | undefined,
  input: Readonly<Record<string, unknown>>,
  { confirmations }: ToolContext,
): ToolResult | { idempotencyKey: string | undefined } {
  if (!sendsMail) return { idempotencyKey: undefined }
  if (token !== undefined) return { idempotencyKey: confirmations.redeem(token, action, input) }
  return confirmationNeeded(action, {
    confirmation: confirmations.create(action, input),
    what: 'the change and that the attendees get mail',
    repeat: 'the same arguments and confirmationToken',
    untrusted: { request: input },
  })
}

/** Shows what the event is now beside what changes. */
function withEvent(asked: ToolResult, event: CalendarEvent): ToolResult {
  return { ...asked, untrusted: { ...asked.untrusted, event: viewEvent(event) } }
}

function changed(summary: string, event: ChangedCalendarEvent): ToolResult {
  const warnings = event.warnings ?? []
  return {
    summary: [summary, ...warnings].join(' '),
    facts: { status: 'done', eventId: event.id },
    untrusted: { event: viewEvent(event) },
  }
}

type EventInput = Partial<Static<TObject<typeof details>>> & { title?: string; start?: string; end?: string }

function eventBody({ title, description, location, start, end, timeZone, attendees }: EventInput) {
  return {
    summary: title,
    description,
    location,
    ...(start !== undefined && { start: eventTime(start, timeZone) }),
    ...(end !== undefined && { end: eventTime(end, timeZone) }),
    ...(attendees !== undefined && { attendees: attendees.map((email) => ({ email })) }),
  }
}

function eventTime(text: string, timeZone: string | undefined) {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) ? { date: text } : { dateTime: text, timeZone }
}

export const eventChangeTools = [createEvent, updateEvent, deleteEvent]
