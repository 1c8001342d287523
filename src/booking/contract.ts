/**
 * The interfaces between the parts of the scheduler.
 *
 *   routes ─► availability (built in, or the callback) ─► slots
 *   routes ─► bookings ─► slotFinder.check ─► blocks ─► callbacks.book ─► tasks ─► calendars, outbox
 */
import type { ErrorDetail } from '../platform/errors/app-error.ts'
import type { TimeRange } from '../providers/contract/index.ts'
import type { Experience, Members } from './experiences/experience.ts'

/** A bookable time, half-open, in milliseconds. */
export interface Slot {
  start: number
  end: number
  /** IANA name, to show the slot in. */
  timezone: string
  /** Ids of accounts, or what the availability callback returned. */
  participants: unknown[]
  metadata: Members
}

/** A slot with the accounts that are its hosts; none: the experience itself. */
export interface StoredSlot extends Slot {
  hosts: string[]
}

/** A request for slots, by a guest or the application. */
export interface SlotRequest {
  range: TimeRange
  durationMinutes: number
  /** Between the starts of slots; default: the duration. */
  intervalMinutes?: number
  timezone?: string
  attendees?: Members[]
  bookingFormResponse?: Members
  constraints?: Members
  metadata?: Members
  /** Sent to callbacks as X-Request-Id. */
  requestId?: string
}

export interface SlotList {
  slots: (Slot & { token?: string })[]
  generatedAt: string
  expiresAt: string | null
  timezone: string
  /** The form's answers lead to another experience: its slots are listed, and booked there. */
  experience?: Experience
  redirectUrl?: string
}

/** A slot as a booking request names it. */
export interface SlotChoice {
  start: number
  end?: number
  token?: string
  participants?: unknown[]
  metadata?: Members
  timezone?: string
}

export interface CheckOptions {
  /** The guest's fields, for the routing callback. */
  guest?: Members
  responses?: Members
  metadata?: Members
  /** A booking whose own event and blocks do not count, while it is rescheduled. */
  except?: string
  /** Sent to callbacks as X-Request-Id. */
  requestId?: string
  signal: AbortSignal
}

/** Finds slots, and checks that one is bookable. One implementation per experience: built in, or by callback. */
export interface SlotFinder {
  /** Sorted and unique. Throws `validation_failed`, and the errors of callbacks and providers. */
  list(experience: Experience, request: SlotRequest, signal: AbortSignal): Promise<SlotList>
  /**
   * The slot with its hosts, if a list would contain it now. `candidates` of a round robin are the free hosts, of which the booking takes
   * the one whose turn it is. Throws `slot_unavailable`, `redirected`.
   */
  check(experience: Experience, choice: SlotChoice, options: CheckOptions): Promise<CheckedSlot>
  /** Finds the slots that can be booked now in a range, each with the hosts that are free. */
  freeTimes(experience: Experience, request: FreeTimesRequest, signal: AbortSignal): Promise<FreeTime[]>
}

interface FreeTimesRequest {
  range: TimeRange
  lengthMs: number
  requestId: string
}

export interface FreeTime {
  start: number
  end: number
  /** Accounts, or the experience itself. */
  hosts: readonly string[]
}

export interface CheckedSlot {
  slot: Slot
  /** `every`: all of them are taken (collective; also for the experience itself). `one`: the free one with the least load. */
  take: 'every' | 'one'
  candidates: string[]
}

/** The question to the booking callback. */
export interface BookingRequest {
  bookingId: string
  slot: Slot
  guest: Members
  attendees: Members[]
  responses: Members
  metadata: Members
  previousSlot?: Slot
  /** Sent to callbacks as X-Request-Id. */
  requestId?: string
}

export type BookingDecision =
  | {
      kind: 'confirmed'
      eventId: string | null
      joinUrl: string | null
      metadata: Members | null
      /** The application knows the guest, and wants the attendees to be invited. */
      guestVerified?: boolean
    }
  /** `status: pending`: the application decides later, by a request of its own. */
  | { kind: 'pending' }
  /** 409, or `status: rejected`. Null: the application gave no reason. */
  | { kind: 'refused'; reason: string | null }
  /** Nobody knows what the application did. `code` is that of the error response, `detail` is for callers with a key. */
  | { kind: 'failed'; code: 'callback_failed' | 'callback_timeout'; reason: string; detail: ErrorDetail }

/** Requests to the application's endpoints. All are signed, bounded and guarded; none throws for a fault of the endpoint. */
export interface Callbacks {
  /** Undefined without a booking endpoint. */
  book(experience: Experience, request: BookingRequest, signal: AbortSignal): Promise<BookingDecision | undefined>
}
