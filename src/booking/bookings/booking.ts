import { AppError } from '../../platform/errors/app-error.ts'
import { isoTime } from '../../platform/time/time.ts'
import type { StoredSlot } from '../contract.ts'
import type { Members } from '../experiences/experience.ts'
import type { BookingRow, BookingStatus } from '../tables.ts'

/** As the request sent it, with an address that was checked. */
export type Guest = Members & {
  email: string
  name: string
  timezone?: string
  /** BCP 47: the language of messages to the guest. */
  locale?: string
}

/** The contents of the booking request. */
export interface Submission {
  guest: Guest
  attendees: Members[]
  responses: Members
  metadata: Members
  /** Hash of the request with the Idempotency-Key, so that another request with the same key is refused. */
  requestHash: string | null
}

export const BOOKING_STATUSES = ['pending', 'confirmed', 'rejected', 'cancelled', 'rescheduled'] as const

/** Only this feature writes these columns, so their shapes are known. */
export const readSubmission = ({ given }: Pick<BookingRow, 'given'>): Submission => JSON.parse(given)
export const bookedSlot = ({ slot }: Pick<BookingRow, 'slot'>): StoredSlot => JSON.parse(slot)
/** Ids of accounts. */
export const bookedHosts = ({ hosts }: Pick<BookingRow, 'hosts'>): string[] => JSON.parse(hosts)

/** Why it ended, for people who hold a link of the booking. */
export function publicReason({ reason, isReasonInternal }: BookingRow): string | null {
  return isReasonInternal === 1 ? null : reason
}

/** Whether the meeting will take place. */
export function isBooked({ status }: { status: BookingStatus }): boolean {
  return status === 'confirmed' || status === 'rescheduled'
}

/** The error of a change that the state of the booking does not permit. */
export function conflict(message: string): AppError {
  return new AppError('conflict', { message })
}

export function slotView({ start, end, timezone, participants, metadata }: StoredSlot) {
  return { start: isoTime(start), end: isoTime(end), timezone, participants, metadata }
}

/** The fields that events, callbacks and responses share. */
export function bookingFields(row: BookingRow) {
  const { guest, attendees, responses, metadata } = readSubmission(row)
  return {
    id: row.id,
    experienceSlug: row.experienceSlug,
    status: row.status,
    slot: slotView(bookedSlot(row)),
    guestVerified: row.verifiedBy !== null,
    guest,
    attendees,
    responses,
    metadata,
    eventId: row.eventId,
    joinUrl: row.joinUrl,
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  }
}
