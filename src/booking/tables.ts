import type { Selectable } from 'kysely'

/** A booking flow. Times are milliseconds. */
interface ExperienceTable {
  id: string
  slug: string
  name: string
  description: string
  /** IANA name. */
  timezone: string
  isActive: number
  /** JSON of `Definition`. */
  definition: string
  /** Sealed JSON of `ExperienceSecrets`. */
  secrets: string
  createdAt: number
  updatedAt: number
}

export type BookingStatus = 'pending' | 'confirmed' | 'rejected' | 'cancelled' | 'rescheduled'

/**
 * Who says that the guest reads the mail of the address: the guest, by a code or the link of a message, or the application, with its
 * key or in the answer of its callback.
 */
export type GuestProof = 'code' | 'link' | 'application'

/** Whether the calendars of the hosts show the state of the booking. `none`: the booking has no host with a calendar. */
type CalendarState = 'none' | 'pending' | 'written' | 'failing' | 'failed'

/** A booking by a guest. A booking that was moved keeps its id, and is `rescheduled`, which otherwise equals `confirmed`. */
interface BookingTable {
  id: string
  experienceId: string
  experienceSlug: string
  /** Hash of experience and key of the request, so that a repeated request books once. Null without a key. */
  requestKey: string | null
  status: BookingStatus
  startMs: number
  endMs: number
  /** JSON of `StoredSlot`. */
  slot: string
  /** JSON of `Given`. */
  given: string
  /** In lower case, for lists. */
  guestEmail: string
  /** JSON array of account ids; empty without hosts. */
  hosts: string
  /** From the booking callback. */
  eventId: string | null
  joinUrl: string | null
  /** Why it was rejected or cancelled. */
  reason: string | null
  /** 1: the service wrote the reason, in English for the application and the hosts. Guests read only what a person or the application wrote. */
  isReasonInternal: number
  cancelledBy: 'guest' | 'host' | 'api' | null
  calendarState: CalendarState
  calendarError: string | null
  /** SEQUENCE of the ICS: counts the changes that the guest was notified of. */
  sequence: number
  /** Links with another value are no longer valid. */
  linkSecret: string
  /** Null: a stranger may have entered the address of somebody else. */
  verifiedBy: GuestProof | null
  /** JSON of `MailCharge`: what the message to a guest who is not known cost, until the guest is verified. */
  mailCharge: string | null
  version: number
  createdAt: number
  updatedAt: number
}

/** Which bookings an account is or was a host of, whatever their state. */
interface BookingAssignmentTable {
  bookingId: string
  hostId: string
  startMs: number
}

/** The event of a booking in the calendar of one host. */
interface BookingEventTable {
  bookingId: string
  hostId: string
  /** Empty until the event exists. */
  calendarId: string
  /** The calendar feature's id, `cev_…`. `new:<n>` until the first attempt to create it; n is part of its key at the provider. */
  eventId: string
}

/** When a host is taken by a booking or a hold. Rows end with their owner, so that every row blocks. */
interface BookingBlockTable {
  /** A booking (`bkg_…`) or a hold (`hld_…`). */
  ownerId: string
  /** An account, or the experience when it has no hosts. */
  hostId: string
  experienceId: string
  startMs: number
  endMs: number
  /** With the buffers of its experience. */
  blockedFrom: number
  blockedTo: number
  /** The day of the start in the zone of the experience, as `YYYY-MM-DD`, for `maximumPerDay`. */
  day: string
  /** The end of a hold, after which the row blocks nothing. Null for a booking. */
  expiresAt: number | null
}

/** A slot that a guest keeps while filling in the form. */
interface BookingHoldTable {
  id: string
  experienceId: string
  /** JSON of `StoredSlot`. */
  slot: string
  expiresAt: number
  /** Hash of the address of a guest without a key; null for others. Their holds are limited, also after they have ended. */
  client: string | null
  startMs: number | null
  endMs: number | null
}

/** One row per host that was ever booked, to lock while its blocks are checked and changed. */
interface BookingHostTable {
  hostId: string
}

/** A code that a guest must enter, once. Purged when another one is sent. */
interface BookingCodeTable {
  /** Hash of the `verificationId`, which only the client that requested the code knows. */
  id: string
  /** Hash of the experience and the address. */
  guest: string
  /** Hash of the address of the client. */
  client: string
  /** Hash of the code and the guest. */
  code: string
  /** Wrong ones, with the `verificationId`. */
  attempts: number
  /** Wrong ones, without it. */
  unboundAttempts: number
  /** JSON of `MailCharge`, given back when the code is entered. */
  mailCharge: string | null
  expiresAt: number
}

/** An address that was verified, or that the application knows, for one host. Deleted a year after it was last used. */
interface KnownGuestTable {
  /** Hash of the host and the address. */
  id: string
  seenAt: number
}

/** Locked while something that strangers do is counted: their messages, per client, experience, account and mailbox, and their holds. */
interface GuestCounterTable {
  scope: string
  /** Messages as JSON of `[start of the slot of time, messages][]`. */
  spent: string
  /** When the last one no longer counts. */
  expiresAt: number
}

/** The last time that an experience refused a request because of a budget. */
interface MailLimitTable {
  experienceId: string
  kind: MailScope
  /** Requests since `limitedAt`. */
  refused: number
  limitedAt: number
  /** Counts the events. */
  version: number
}

/** The subject of a budget. `address`: the mailbox that gets the messages. */
export type MailScope = 'experience' | 'client' | 'account' | 'address'

export type TaskType = 'callback' | 'calendar' | 'message' | 'reminder' | 'decision'
export type TaskStatus = 'waiting' | 'active' | 'completed' | 'failed' | 'cancelled'

/** Work that remains for a booking. The row is the truth; jobs carry the id of the booking only. */
interface BookingTaskTable {
  id: string
  bookingId: string
  type: TaskType
  /** Distinguishes tasks of one type, such as the kind of message and its recipient. Unique with booking and type. */
  subject: string
  status: TaskStatus
  attempts: number
  lastError: string | null
  /** When it is to run; null once it has ended. */
  dueAt: number | null
  giveUpAt: number
  lease: string | null
  leasedUntil: number | null
  createdAt: number
  updatedAt: number
}

export type ExperienceRow = Selectable<ExperienceTable>
export type BookingRow = Selectable<BookingTable>
export type BlockRow = Selectable<BookingBlockTable>
export type HoldRow = Selectable<BookingHoldTable>
export type CodeRow = Selectable<BookingCodeTable>
export type TaskRow = Selectable<BookingTaskTable>

declare module '../platform/db/db.ts' {
  interface Tables {
    experiences: ExperienceTable
    bookings: BookingTable
    bookingAssignments: BookingAssignmentTable
    bookingEvents: BookingEventTable
    bookingBlocks: BookingBlockTable
    bookingHolds: BookingHoldTable
    bookingHosts: BookingHostTable
    bookingTasks: BookingTaskTable
    bookingCodes: BookingCodeTable
    knownGuests: KnownGuestTable
    guestCounters: GuestCounterTable
    mailLimits: MailLimitTable
  }
}
