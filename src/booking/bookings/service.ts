import { AppError } from '../../platform/errors/app-error.ts'
import type { Page } from '../../platform/formats/pagination.ts'
import type { BookingRow } from '../tables.ts'
import { type CancelDeps, cancelBooking } from './actions/cancelling.ts'
import { type CreateDeps, type Created, type CreateOptions, createBooking } from './actions/creating.ts'
import { type Held, type HoldDeps, type HoldOptions, holdSlot } from './actions/holding.ts'
import { type MoveDeps, type MoveOptions, rescheduleBooking } from './actions/moving.ts'
import { type ConfirmDeps, confirmAddress, updateBooking } from './actions/updating.ts'
import type { BookingBody, BookingQuery, SlotBody, UpdateBody } from './api.ts'
import { parseQuery } from './input.ts'
import type { Actor, LinkRole, Links } from './links.ts'
import { bookingStore } from './store.ts'

type BookingDeps = HoldDeps & CreateDeps & MoveDeps & ConfirmDeps & CancelDeps & { links: Links }

/** A booking, and what the holder of its link is to it. */
interface LinkedBooking {
  row: BookingRow
  role: LinkRole
  /** The guest got the link by mail, and so reads the mail of the address. */
  isReader: boolean
}

/** Creates, changes and reads bookings. docs/decisions/0043-booking-scheduler.md has the order of the steps. */
export function bookings(deps: BookingDeps) {
  const { db, links } = deps
  return {
    links,

    /** Keeps the slot for its guest for five minutes. Throws `slot_unavailable`, `rate_limited`, `hold_unavailable`. */
    hold(slug: string, slot: SlotBody, options: HoldOptions): Promise<Held> {
      return holdSlot(deps, slug, slot, options)
    },

    /** Books a slot. A repeated request gets the booking of the first one. */
    create(slug: string, body: BookingBody, options: CreateOptions): Promise<Created> {
      return createBooking(deps, slug, body, options)
    },

    /** Throws not_found. */
    get(id: string): Promise<BookingRow> {
      return bookingStore(db.read).get(id)
    },

    /** By the token of a link. Throws not_found for a wrong one, as for an unknown booking. */
    async byLink(id: string, token: string): Promise<LinkedBooking> {
      const row = await bookingStore(db.read).find(id)
      const holder = row && links.findHolder(row, token)
      if (row === undefined || holder === undefined) {
        throw new AppError('not_found', { message: 'This link is not valid. Open it again from the message.' })
      }
      return { row, role: holder === 'host' ? 'host' : 'guest', isReader: holder === 'reader' }
    },

    /** By start. */
    async list(query: BookingQuery): Promise<Page<BookingRow>> {
      return bookingStore(db.read).list(parseQuery(query))
    },

    /** Moves the booking to another slot. A refusal leaves it as it was. */
    reschedule(id: string, slot: SlotBody, options: MoveOptions): Promise<BookingRow> {
      return rescheduleBooking(deps, id, slot, options)
    },

    /** Decides about a pending booking, and changes metadata and guest: all of it or, when something is refused, nothing. */
    update(id: string, body: UpdateBody): Promise<BookingRow> {
      return updateBooking(deps, id, body)
    },

    /** The guest opened the link of a message. Attendees get theirs now. Repeating it changes nothing. */
    confirmAddress(id: string, client: string): Promise<BookingRow> {
      return confirmAddress(deps, id, client)
    },

    /** Repeating it changes nothing. Throws conflict when the booking has ended. */
    cancel(id: string, by: Actor, reason: string | null, client?: string): Promise<BookingRow> {
      return cancelBooking(deps, id, { by, reason, client })
    },
  }
}

export type Bookings = ReturnType<typeof bookings>
