import type { Generated } from 'kysely'
import type { CalendarRole, ProviderName, RemoteEvent } from '../providers/contract/index.ts'

interface CalendarTable {
  /** Does not change when the calendar is renamed. */
  id: string
  accountId: string
  providerId: string
  summary: string
  description: string
  timeZone: string | null
  backgroundColor: string | null
  foregroundColor: string | null
  role: CalendarRole
  isPrimary: number
  isSelected: number
  /** The provider's position in the changes; null before the first sync, and after it expired. */
  cursor: string | null
  /** Incremented when all events are read again. Afterwards, events with an earlier round no longer exist. */
  round: number
  /** 1 while all events are read again after the cursor expired: what differs is announced. */
  isComparing: number
  /** The time range in which instances are stored, in ms. Both 0 before the first sync. */
  windowFrom: number
  windowTo: number
  /** The time range whose events are stored: a window that became larger must be listed first. Both 0 before the first sync. */
  listedFrom: number
  listedTo: number
  /** When everything in the window was last known to be current. */
  syncedAt: number | null
  /** The number of the last deletion through the API. Sync may know an event that it deleted. */
  apiDeletion: number
  /** How many rows of `unreadableEvents` it has. */
  unreadable: number
  /** How often in a row the calendar could not be read. */
  failures: number
  /** Why, for the operator; null without failures. */
  failureReason: string | null
  failingSince: number | null
  /** When sync reads a failing calendar again. */
  retryAt: number | null
  createdAt: number
  updatedAt: number
}

/** An event that could not be read, entirely or in part, since it was last changed. */
interface UnreadableEventTable {
  calendarId: string
  /** The event's id at the provider; for CalDAV the path of its object. */
  providerId: string
  reason: string
  /** As in `CalendarEventTable`. */
  round: number
  foundAt: number
  /** How often in a row the provider did not return the event; 0 for one that was returned and is not readable. */
  failures: Generated<number>
  /** When it is read again. Null: with its next change. */
  nextAttemptAt: number | null
}

/** A master, an exception or a single event. */
interface CalendarEventTable {
  /** `cev_…`; of an exception whose master is stored, the id of the instance: `<id of the master>_<original start>`. */
  id: string
  accountId: string
  calendarId: string
  providerId: string
  /** Only in exceptions: the provider's id of the master, which may not be stored. */
  masterProviderId: string | null
  /** Only in exceptions: `OriginalStart` as text. */
  originalStart: string | null
  status: RemoteEvent['status']
  /** 1: a master, which has an instance for each start. */
  isSeries: number
  /** The `RemoteEvent` as JSON. */
  content: string
  /** Folded words of summary, description, place and people, between spaces. */
  searchText: string
  /** When the event itself, or the first instance of a series, begins. */
  startMs: number
  /** When its first instance in the window begins, and its last one ends. Null without instances in the window. */
  firstMs: number | null
  lastMs: number | null
  /** The longest time between two of its instances in the window; -1 without two. A longer range contains one of them. */
  gapMs: number
  round: number
  version: number
  /** The number of the last change through the API, 0 without one. */
  apiChange: number
  /** How often sync has read the event and found it as it is stored: a change through the API that began before may be older. */
  confirmations: number
  createdAt: number
  updatedAt: number
}

/** When an event takes place, within the window of its calendar. Cancelled events have none. */
interface CalendarInstanceTable {
  eventId: string
  calendarId: string
  /** As in the id of an instance: `20261120T080000Z`, or `20261120` for an all-day event. Empty for events that are no series. */
  originalStart: string
  startMs: number
  endMs: number
  /** 1: longer than a day. Few are, so that a range needs to look back only a day for the others. */
  isLong: number
  /** 0: others see the time as free, or the user declined. */
  isBusy: number
  /** 1: neither the event nor the calendar has a zone, so these times are wall clocks of a place that the reader knows. */
  isFloating: number
}

interface CalendarListingTable {
  accountId: string
  /** When the calendars of the account were last listed. */
  listedAt: number
}

/** A push subscription at the provider. The account's owner writes it under its epoch. */
interface CalendarSubscriptionTable {
  accountId: string
  /** Empty: all calendars of the account. */
  calendarId: string
  provider: ProviderName
  /** The provider's id. At Google the ids of the channel and of what it watches, with a space between them. */
  subscriptionId: string
  /** Our URL, to which the provider sends notifications. */
  target: string
  /** `hashClientState` of the secret in every notification. */
  clientStateHash: string
  /** 0 when the provider reported that the subscription was removed. */
  expiresAt: number
  renewAt: number
  /** 1: a change was notified, and no sync has begun since. */
  isNotified: number
}

declare module '../platform/db/db.ts' {
  interface Tables {
    calendars: CalendarTable
    calendarEvents: CalendarEventTable
    calendarInstances: CalendarInstanceTable
    calendarListings: CalendarListingTable
    calendarSubscriptions: CalendarSubscriptionTable
    unreadableEvents: UnreadableEventTable
  }
}
