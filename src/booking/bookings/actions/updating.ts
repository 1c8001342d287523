import type { Tx } from '../../../platform/db/index.ts'
import { type ErrorDetail, invalid, invalidFields } from '../../../platform/errors/app-error.ts'
import { cleanJson } from '../../../platform/formats/text.ts'
import { BadAnswer, parseDecision } from '../../callbacks/response-checks.ts'
import type { BookingDecision } from '../../contract.ts'
import type { Experience } from '../../experiences/experience.ts'
import { chargeMessages, refundGuest, rememberPeople } from '../../guests/booking-mail.ts'
import type { MailBudget } from '../../guests/budget.ts'
import { type MailLimitDeps, reportingLimits } from '../../guests/limit-report.ts'
import type { BookingRow } from '../../tables.ts'
import { scheduleCalendars } from '../../tasks/after-change.ts'
import type { UpdateBody } from '../api.ts'
import { bookedHosts, conflict, isBooked, readSubmission, type Submission } from '../booking.ts'
import { parseGuest } from '../input.ts'
import { type ChangeDeps, holdHosts, storeVerification } from '../state-changes.ts'
import { bookingStore } from '../store.ts'
import { type DecisionDeps, storeDecision } from './deciding.ts'

export interface ConfirmDeps extends ChangeDeps, MailLimitDeps {
  budget: MailBudget
  experiences: { findById(id: string): Promise<Experience | undefined> }
}

/** Decides about a pending booking, and changes metadata and guest: all of it or, when something is refused, nothing. */
export async function updateBooking(deps: DecisionDeps, id: string, body: UpdateBody): Promise<BookingRow> {
  const { db } = deps
  const decision = laterDecision(body)
  const booking = await bookingStore(db.read).get(id)
  return db.transaction(async (tx) => {
    await holdHosts(deps, tx, bookedHosts(booking))
    const before = await bookingStore(tx).lock(id, db.dialect)
    // First, so that the event of the decision has the new members.
    const row = await changeSubmission(deps, tx, before, body)
    if (decision === undefined) return row
    const decided = await storeDecision(deps, tx, row, decision, false)
    if (decided.status !== body.status) throw conflict(`The booking is ${decided.status} already.`)
    return decided
  })
}

/** Returns the row as it is when nothing differs. */
async function changeSubmission(
  deps: ChangeDeps,
  tx: Tx,
  row: BookingRow,
  { metadata, guest }: UpdateBody,
): Promise<BookingRow> {
  const submission = readSubmission(row)
  const errors: ErrorDetail[] = []
  const { email } = submission.guest
  const changed = guest && parseGuest('body.guest', { ...submission.guest, ...guest, email }, errors)
  if (errors.length > 0) throw invalidFields(errors)
  const next: Submission = { ...submission, ...(changed && { guest: changed }), ...(metadata && { metadata }) }
  if (cleanJson(next) === cleanJson(submission)) return row
  const shown = isBooked(row) && changed !== undefined && bookedHosts(row).length > 0
  const updated = await bookingStore(tx).update(row, {
    given: cleanJson(next),
    updatedAt: deps.clock.now(),
    ...(shown && { calendarState: 'pending', calendarError: null }),
  })
  if (shown) await scheduleCalendars(deps, tx, updated)
  return updated
}

/** The guest opened the link of a message. Attendees get theirs now. Repeating it changes nothing. */
export async function confirmAddress(deps: ConfirmDeps, id: string, client: string): Promise<BookingRow> {
  const { db, experiences, budget } = deps
  const booking = await bookingStore(db.read).get(id)
  const experience = await experiences.findById(booking.experienceId)
  if (experience === undefined) throw conflict('The experience of this booking no longer exists.')
  const confirm = () =>
    db.transaction(async (tx) => {
      await holdHosts(deps, tx, bookedHosts(booking))
      const row = await bookingStore(tx).lock(id, db.dialect)
      if (row.verifiedBy !== null || (row.status !== 'pending' && !isBooked(row))) return row
      const verified = await storeVerification(deps, tx, row)
      await refundGuest(tx, budget, verified)
      await chargeMessages(tx, budget, verified, client)
      await rememberPeople(tx, budget, verified)
      return verified
    })
  return reportingLimits(deps, experience, confirm)
}

/** As the callback could have answered. Undefined without a status. */
function laterDecision({ status, reason, joinUrl, eventId }: UpdateBody) {
  const errors: ErrorDetail[] = []
  for (const [name, value] of Object.entries({ reason, joinUrl, eventId })) {
    const needed = name === 'reason' ? 'rejected' : 'confirmed'
    if (value === undefined || status === needed) continue
    errors.push({ path: `body.${name}`, message: `requires the status "${needed}"` })
  }
  if (errors.length > 0) throw invalidFields(errors)
  return status === undefined ? undefined : parseLater({ status, message: reason, joinUrl, eventId })
}

function parseLater(body: object): Exclude<BookingDecision, { kind: 'pending' }> {
  try {
    const decision = parseDecision(body)
    if (decision.kind !== 'pending') return decision
    throw invalid('body.status', 'must be confirmed or rejected')
  } catch (error) {
    if (!(error instanceof BadAnswer)) throw error
    throw invalid(`body.${error.path}`, error.problem)
  }
}
