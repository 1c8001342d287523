import { AppError } from '../../platform/errors/app-error.ts'
import { clientBlock } from '../../platform/http/index.ts'
import type { Bookings } from './service.ts'

/** A request with a link of a booking. */
interface LinkRequest {
  bookingId: unknown
  token: unknown
  ip: string
}

/**
 * Whom a request with a link counts for: the booking if its token is right, else the client. The id of a booking is in invitations, so
 * that others than its guest know it; their guesses must not lock the guest out.
 */
export async function linkSubject(
  bookings: Pick<Bookings, 'byLink'>,
  { bookingId, token, ip }: LinkRequest,
): Promise<string> {
  const wrong = `wrong token from ${clientBlock(ip)}`
  if (typeof bookingId !== 'string' || typeof token !== 'string') return wrong
  try {
    await bookings.byLink(bookingId, token)
    return `booking ${bookingId}`
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return wrong
    throw error
  }
}
