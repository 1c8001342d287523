import { createHmac } from 'node:crypto'
import type { Sealer } from '../../platform/crypto/seal.ts'
import { sameText } from '../../platform/crypto/signature.ts'
import type { BookingRow } from '../tables.ts'

/** Who holds a link. A host's is written into the event of the calendar. */
export type LinkRole = 'guest' | 'host'
/** `reader`: a guest, who got the link by mail and not in a response, and so reads the mail of the address. */
type LinkHolder = LinkRole | 'reader'
/** Who cancels or moves a booking. */
export type Actor = LinkRole | 'api'

/** The name of the file, below the page of the booking. */
export const CALENDAR_FILE = 'invitation.ics'

const HOLDERS: readonly LinkHolder[] = ['guest', 'host', 'reader']

export interface BookingLinks {
  reschedule: string
  cancel: string
  /** The booking as a file for a calendar. */
  calendar: string
}

/**
 * Signed links to a booking. The token proves that its holder may move and cancel this booking, and nothing else. Another
 * `linkSecret`, or another primary key of the service, ends all links of a booking.
 */
export function bookingLinks({ sealer, publicUrl }: { sealer: Sealer; publicUrl: string }) {
  const key = sealer.derive('booking links')

  function signToken({ id, linkSecret, createdAt }: BookingRow, role: LinkHolder): string {
    const mac = createHmac('sha256', key).update(JSON.stringify([role, id, linkSecret, Number(createdAt)]))
    return mac.digest('base64url')
  }

  return {
    /** Undefined for a token of another booking, or an invented one. Takes the same time for every wrong token. */
    findHolder(row: BookingRow, token: string): LinkHolder | undefined {
      const [found] = HOLDERS.map((holder) => ({ holder, isIt: sameText(token, signToken(row, holder)) })).filter(
        ({ isIt }) => isIt,
      )
      return found?.holder
    },

    of(row: BookingRow, role: LinkHolder = 'guest'): BookingLinks {
      const page = `${publicUrl}/book/${row.experienceSlug}/bookings/${row.id}`
      const token = signToken(row, role)
      const link = (action: string) => `${page}?token=${token}&action=${action}`
      return {
        reschedule: link('reschedule'),
        cancel: link('cancel'),
        calendar: `${page}/${CALENDAR_FILE}?token=${token}`,
      }
    },

    /** For a message to the guest only: its holder can confirm the address. */
    confirm: (row: BookingRow): string =>
      `${publicUrl}/book/${row.experienceSlug}/bookings/${row.id}?token=${signToken(row, 'reader')}&action=confirm`,
  }
}

export type Links = ReturnType<typeof bookingLinks>
