import type { EventTime, RemoteEvent, TimeRange } from './calendar.ts'

/**
 * Writes to the calendars of an account. Requests wait as live reads do. Every method rejects with `ProviderError`. After an error
 * other than `not_found`, `rejected` and `conflict`, the change may or may not have been made; each method may be called again.
 *
 * "This and following" is two changes: end the series before the instance, and create another series.
 */
export interface CalendarEdits {
  /** The event as it is now. A deleted or cancelled one is `not_found`. */
  getEvent(target: EventTarget, signal: AbortSignal): Promise<RemoteEvent>
  createEvent(request: CreateEvent): Promise<RemoteEvent>
  updateEvent(request: UpdateEvent): Promise<RemoteEvent>
  /** An event that does not exist counts as deleted. */
  deleteEvent(request: EventTarget & Notify): Promise<void>
  /** Answers an invitation. Returns null when the provider then removes the event from the calendar. `rejected` without an invitation. */
  respond(request: RespondToEvent): Promise<RemoteEvent | null>
}

/** Absent where busy times are computed from `CalendarAccount.readRange`. */
export interface CalendarFreeBusy {
  /** One result for each id, in order. */
  freeBusy(request: FreeBusyRequest): Promise<FreeBusy[]>
}

export interface EventTarget {
  calendarId: string
  /** A single event, the master of a series, or an exception. */
  eventId: string
  /** With the id of a master: the instance that would start then. */
  instance: EventTime | null
}

interface Notify {
  /** Whether the others receive an email. Graph always sends it. */
  notify: boolean
  signal: AbortSignal
}

export interface CreateEvent extends Notify {
  calendarId: string
  /** A UUID. Calls with the same one create one event, and return it. */
  key: string
  event: EventInput
}

interface UpdateEvent extends EventTarget, Notify {
  /** Absent members stay as they are. Of an instance, `recurrence` cannot be changed. */
  changes: Partial<EventInput>
  /** The version that the changes are based on: another one is `conflict`. Null: any. */
  etag: string | null
}

export interface RespondToEvent extends EventTarget, Notify {
  response: 'accepted' | 'declined' | 'tentative'
  /** For the organizer. */
  comment: string
}

/** The members of an event that a caller sets. */
export interface EventInput {
  summary: string
  /** Plain text. */
  description: string
  location: string
  start: ZonedTime
  /** Exclusive. */
  end: ZonedTime
  /** RRULE, RDATE and EXDATE lines. Graph takes one RRULE, and only one that Outlook knows: another one is `rejected`. */
  recurrence: string[]
  busy: boolean
  visibility: RemoteEvent['visibility']
  attendees: { email: string; displayName: string; optional: boolean }[]
  /** Null: those of the calendar. Graph has one. */
  reminders: RemoteEvent['reminders'] | null
  /** True: the provider adds a link to an online meeting, if there is none. `rejected` where it cannot. */
  conference: boolean
}

export type ZonedTime = { date: string } | { dateTime: string; timeZone: string }

export interface FreeBusyRequest {
  /** Ids of calendars, or email addresses of people. At most 50. */
  ids: string[]
  range: TimeRange
  /** IANA: where all-day events take place, if the provider does not say. */
  timeZone: string
  signal: AbortSignal
}

export interface FreeBusy {
  id: string
  /** In order, without overlaps. */
  busy: TimeRange[]
  /** Why there are no times: the calendar does not exist, or may not be seen. */
  error: 'not_found' | 'unavailable' | null
}
