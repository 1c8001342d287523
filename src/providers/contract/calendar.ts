import type { CalendarEdits, CalendarFreeBusy } from './calendar-edits.ts'
import type { MailAccess } from './provider.ts'
import type { CalendarPush } from './push.ts'

/** Calendars of an account. The counterpart of the mail side; also for imap accounts, through CalDAV. */
export interface CalendarProvider {
  /** Nothing stays connected between calls. Two of one account may be in use at a time. */
  open(access: MailAccess): CalendarAccount
  edits?(access: MailAccess): CalendarEdits
  freeBusy?(access: MailAccess): CalendarFreeBusy
  readonly push?: CalendarPush
}

/** Every method rejects with `ProviderError`, or the signal's reason. */
export interface CalendarAccount {
  /**
   * Every calendar that the account sees. Empty when the mail server's provider has no calendars. `isKnown`: calendars are stored
   * already. A CalDAV server that nobody configured and that cannot be found is then an error: without calendars, the same failure
   * means that there are none.
   */
  listCalendars(signal: AbortSignal, isKnown?: boolean): Promise<RemoteCalendar[]>
  /**
   * Reads the changes of a calendar since `cursor` (null: everything in the window) in steps of about 500 events at most. A step's
   * `cursor` is valid once the step is stored. `cursor_expired`: read again with null; what is not found then was deleted.
   */
  syncEvents(request: EventSyncRequest): AsyncIterable<EventStep>
  /**
   * Reads a time range that is not stored: masters, exceptions and single events that overlap it, and perhaps others within a day of
   * it, as `syncEvents` returns them, so that one function expands both. The bounds may be infinite, unless it expands. At most 10,000
   * events, otherwise `limit_exceeded`.
   */
  readRange(request: EventRangeRequest): Promise<RemoteEvent[]>
}

/** In ms; `from` ≤ t < `to`. */
export interface TimeRange {
  from: number
  to: number
}

export type CalendarRole = 'freeBusyReader' | 'reader' | 'writer' | 'owner'

export interface RemoteCalendar {
  /** The provider's id; for CalDAV the path of the collection. */
  calendarId: string
  summary: string
  description: string
  /** IANA: of the calendar, or else of the mailbox. Null where the provider does not say. */
  timeZone: string | null
  /** `#rrggbb` */
  backgroundColor: string | null
  foregroundColor: string | null
  role: CalendarRole
  primary: boolean
  selected: boolean
}

export interface EventSyncRequest {
  calendarId: string
  /** As `listCalendars` returned it: the zone of events that the provider gives none. */
  timeZone?: string | null
  cursor: string | null
  /**
   * The range to expand. Nothing that touches it is missing. Changes of earlier and later events are reported too, where the provider
   * reports them: store the later ones, because they are not reported again when the window reaches them.
   */
  window: TimeRange
  /** Ids of events that the provider did not return before: they are read again first. */
  again?: readonly string[]
  signal: AbortSignal
}

export interface EventRangeRequest {
  calendarId: string
  /** As for `syncEvents`. */
  timeZone?: string | null
  range: TimeRange
  /**
   * True: in place of a master and its exceptions the provider may return every instance in the range as an exception, without the
   * master. Google and Graph do.
   */
  expand: boolean
  signal: AbortSignal
}

/**
 * Masters, exceptions and single events, complete, in any order: an exception may come before its master. One whose master never
 * comes is an event by itself, such as an invitation to one instance of a series.
 */
export interface EventStep {
  /** New or changed. */
  found: RemoteEvent[]
  /** Listed because the window moved. One that is not stored is stored without an event; another one may have changed. */
  entered: RemoteEvent[]
  /** Masters of `found` and `entered` whose exceptions are all in this step: any other stored exception no longer exists. */
  complete: string[]
  /** Ids of events that no longer exist; a master takes its exceptions with it. May contain unknown ones. */
  removed: string[]
  /** Events of this step, and objects, that could not be read or lost something. A stored version of theirs remains. */
  unreadable?: UnreadableEvent[]
  /** Opaque to everyone but the provider; text under 4 KB. */
  cursor: string
}

/** An event that we cannot read, entirely or in part. */
export interface UnreadableEvent {
  /** For CalDAV the path of the object. */
  eventId: string
  /** Sentences for the operator, which quote at most the beginning of a value. */
  reason: string
  /** The provider did not return it, and may do so later. */
  isRefused?: boolean
  /** The event with the times that are known; stored unless a version of it is. */
  placeholder?: RemoteEvent
}

/**
 * A date of an all-day event, or a local time. `timeZone` is IANA, or the `ownZoneText` of a zone that the event brought with it; null:
 * floating, the same wall clock everywhere. `storedZone` reads both.
 */
export type EventTime = EventDate | { dateTime: string; timeZone: string | null }

/** `timeZone`: where the day is, if the provider says so. */
interface EventDate {
  date: string
  timeZone?: string
}

/**
 * A single event, the master of a series, or an exception: an instance of a series that differs from its master, or is
 * cancelled. The provider has passed it through `boundedEvent`.
 */
export interface RemoteEvent {
  /** Stable while the event exists. For CalDAV the path of the object, for an exception followed by `#` and its original start. */
  eventId: string
  /** Ids of others that are removed with this one: a CalDAV object has one event, but some servers keep several. */
  siblings?: string[]
  iCalUid: string
  /** Changes with each version, where the provider has one. */
  etag: string | null
  status: 'confirmed' | 'tentative' | 'cancelled'
  summary: string
  /** The first 8,192 characters. Google's may contain HTML. */
  description: string
  location: string
  /** `dateTime` is local: `2026-11-20T09:00:00`. */
  start: EventTime
  /** Exclusive. Equal to `start` for an event without a duration. */
  end: EventTime
  /** Set on a master that lasts days and perhaps hours: each instance ends so many days later on the wall clock, then the hours. */
  durationDays?: number
  /** RRULE, RDATE and EXDATE lines of RFC 5545 of a master; otherwise empty. */
  recurrence: string[]
  /** Marks a placeholder: RDATE names the instances that are known, as dates or as periods in UTC. The others are not known. */
  timesOnly?: true
  /** Moves of a master, in order: from such an instance on, all are moved or left out (RANGE=THISANDFUTURE of RFC 5545). */
  moves?: SeriesMove[]
  /** Set on an exception: its master, and when the instance would have started. */
  recurringEventId: string | null
  originalStart: EventTime | null
  /** False: others see the time as free (TRANSP:TRANSPARENT, `showAs: free`). */
  busy: boolean
  visibility: 'default' | 'public' | 'private' | 'confidential'
  organizer: RemoteAttendee | null
  /** At most 1,000. */
  attendees: RemoteAttendee[]
  /** `type` is the provider's word: `hangoutsMeet`, `teamsForBusiness`. */
  conference: { type: string; url: string } | null
  /** Minutes before the start. */
  reminders: { method: 'popup' | 'email'; minutes: number }[]
  /** Shows the event to its owner on the provider's site. */
  htmlLink: string | null
  /** In ms; null where the provider does not say. */
  createdAt: number | null
  updatedAt: number | null
}

/** `start` and `end` are those of the first instance that is moved; null: the series ends before it. */
export interface SeriesMove {
  originalStart: EventTime
  times: { start: EventTime; end: EventTime } | null
  /** Whether the moved instances are busy. Absent in values that earlier versions stored: as the master. */
  busy?: boolean
}

export interface RemoteAttendee {
  email: string
  displayName: string
  responseStatus: 'needsAction' | 'declined' | 'tentative' | 'accepted'
  optional: boolean
  organizer: boolean
  self: boolean
}
