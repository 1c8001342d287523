import type { Tx } from '../../platform/db/index.ts'
import { bookedHosts, readSubmission, type Submission } from '../bookings/booking.ts'
import type { BookingRow } from '../tables.ts'
import { type MailBudget, type MailCharge, WINDOW_MS } from './budget.ts'
import { mailboxKey } from './guest-address.ts'

/**
 * The addresses of the attendees, each mailbox once, without that of the guest. They get messages only when the guest was verified.
 */
export function attendeeEmails({ attendees, guest }: Pick<Submission, 'attendees' | 'guest'>): string[] {
  const found = new Map<string, string>()
  for (const { email } of attendees) if (typeof email === 'string') found.set(mailboxKey(email), email)
  found.delete(mailboxKey(guest.email))
  return [...found.values()]
}

/** Who gets messages about the booking beside its hosts, and must be counted when a guest without a key causes them. */
function findStrangers(row: BookingRow): string[] {
  if (bookedHosts(row).length === 0) return []
  const submission = readSubmission(row)
  return row.verifiedBy === null ? [submission.guest.email] : attendeeEmails(submission)
}

/**
 * Charges the messages of a new booking, of a move or of the end of a booking that a guest caused. Call it after the booking was
 * locked or inserted. Throws `MailLimited`.
 */
export async function chargeMessages(
  tx: Tx,
  budget: MailBudget,
  row: BookingRow,
  client: string | undefined,
): Promise<void> {
  const [accountId] = bookedHosts(row)
  const emails = findStrangers(row)
  if (accountId === undefined || emails.length === 0) return
  const charge = await budget.charge(tx, { experienceId: row.experienceId, accountId, client, emails })
  if (charge === undefined || row.verifiedBy !== null) return
  const charges = readCharges(row).filter(({ slotMs }) => slotMs > charge.slotMs - WINDOW_MS)
  await setCharges(tx, row.id, [...charges, charge])
}

/** Gives back what messages to the guest cost: the guest is known now, or got none. */
export async function refundGuest(tx: Tx, budget: MailBudget, { id }: Pick<BookingRow, 'id'>): Promise<void> {
  const row = await tx.selectFrom('bookings').select('mailCharge').where('id', '=', id).executeTakeFirst()
  const charges = row === undefined ? [] : readCharges(row)
  if (charges.length === 0) return
  for (const charge of charges) await budget.refund(tx, charge)
  await setCharges(tx, id, [])
}

/** Remembers the people whom the application has named. */
export async function rememberPeople(tx: Tx, budget: MailBudget, row: BookingRow): Promise<void> {
  const [accountId] = bookedHosts(row)
  if (accountId === undefined) return
  const submission = readSubmission(row)
  const emails =
    row.verifiedBy === 'application'
      ? [submission.guest.email, ...attendeeEmails(submission)]
      : [submission.guest.email]
  await budget.remember(tx, accountId, emails)
}

function readCharges({ mailCharge }: Pick<BookingRow, 'mailCharge'>): MailCharge[] {
  return mailCharge === null ? [] : JSON.parse(mailCharge)
}

async function setCharges(tx: Tx, bookingId: string, charges: readonly MailCharge[]): Promise<void> {
  const mailCharge = charges.length === 0 ? null : JSON.stringify(charges)
  await tx.updateTable('bookings').set({ mailCharge }).where('id', '=', bookingId).execute()
}
