import type { Tx } from '../../../platform/db/index.ts'
import { AppError } from '../../../platform/errors/app-error.ts'
import { cleanJson } from '../../../platform/formats/text.ts'
import type { Clock } from '../../../platform/time/clock.ts'
import type { CheckedSlot, SlotFinder } from '../../contract.ts'
import type { Experience } from '../../experiences/experience.ts'
import { chargeMessages } from '../../guests/booking-mail.ts'
import { type MailLimitDeps, reportingLimits } from '../../guests/limit-report.ts'
import type { BookingRow } from '../../tables.ts'
import { addTasks } from '../../tasks/store.ts'
import type { SlotBody } from '../api.ts'
import { bookedHosts, conflict, isBooked, readSubmission } from '../booking.ts'
import { parseSlot } from '../input.ts'
import type { Actor } from '../links.ts'
import { holdHosts, storeMove } from '../state-changes.ts'
import { bookingStore } from '../store.ts'
import { checkSignal, HOLD_MS, lockHosts, takeSlot } from './blocking.ts'
import { type Asking, askApplication, buildAskingTask, type DecisionDeps, decideMove } from './deciding.ts'

export interface MoveDeps extends DecisionDeps, MailLimitDeps {
  experiences: { findById(id: string): Promise<Experience | undefined> }
  finder: SlotFinder
}

export interface MoveOptions {
  requestId: string
  by?: Actor
  client?: string | undefined
}

interface Move {
  experience: Experience
  checked: CheckedSlot
  booking: BookingRow
  /** The application decides. */
  asks: boolean
  /** A guest without a key causes the messages. */
  isGuest: boolean
  client: string | undefined
}

/** Moves the booking to another slot: both times are blocked until the application has decided. A refusal leaves it as it was. */
export async function rescheduleBooking(
  deps: MoveDeps,
  id: string,
  slot: SlotBody,
  { requestId, by, client }: MoveOptions,
): Promise<BookingRow> {
  const { db, clock, experiences, finder } = deps
  const wanted = parseSlot('body.slot', slot)
  const booking = await bookingStore(db.read).get(id)
  requireMovable(booking, clock)
  const experience = await experiences.findById(booking.experienceId)
  if (experience === undefined) throw conflict('The experience of this booking no longer exists.')
  const choice = { ...wanted, end: wanted.end ?? wanted.start + booking.endMs - booking.startMs }
  if (choice.start === booking.startMs && choice.end === booking.endMs) return booking
  const { guest, responses, metadata } = readSubmission(booking)
  const asked = { guest, responses, metadata, requestId, except: id, signal: checkSignal() }
  const checked = await finder.check(experience, choice, asked)
  const asks = experience.definition.endpoints.booking !== null
  const move = { experience, checked, booking, asks, isGuest: by === 'guest', client }
  const begin = () => db.transaction((tx) => beginMove(deps, tx, move))
  const begun = await reportingLimits(deps, experience, begin)
  if (begun.asking === undefined) return begun.row
  const { holdId, slot: next } = begun.asking
  const decision = await askApplication(deps, experience, booking, { requestId, next })
  return decideMove(deps, id, holdId, decision)
}

/** Blocks the new time beside the old one. Without anybody to ask, the booking is moved at once. */
async function beginMove(
  deps: MoveDeps,
  tx: Tx,
  { experience, checked, booking, asks, isGuest, client }: Move,
): Promise<{ row: BookingRow; asking?: Asking }> {
  const { db, clock, ids, events, budget } = deps
  const nowMs = clock.now()
  await lockHosts(tx, db.dialect, checked.candidates, nowMs)
  const holdId = ids('hld')
  const task = buildAskingTask(deps, holdId)
  const taking = {
    experience,
    checked,
    ownerId: holdId,
    expiresAt: task.giveUpAt + HOLD_MS,
    except: booking.id,
    nowMs,
  }
  // So that a round robin changes the host only when it must.
  const slot = await takeSlot(tx, { ...taking, preferred: bookedHosts(booking) })
  const { account, isComplete } = await holdHosts(deps, tx, [...new Set([...slot.hosts, ...bookedHosts(booking)])])
  const row = await bookingStore(tx).lock(booking.id, db.dialect)
  requireMovable(row, clock)
  if (!isComplete) throw new AppError('slot_unavailable')
  if (row.sequence !== booking.sequence) throw conflict('The booking was moved meanwhile.')
  if (isGuest) await chargeMessages(tx, budget, row, client)
  if (!asks) {
    const moved = await storeMove(deps, tx, row, account, { slot, holdId })
    await events.record(tx, [moved.event])
    return { row: moved.row }
  }
  if (await hasOpenMove(tx, row.id)) throw conflict('The booking is being moved already. Try again shortly.')
  await bookingStore(tx).insertHold({
    id: holdId,
    experienceId: experience.id,
    slot: cleanJson(slot),
    expiresAt: taking.expiresAt,
    client: null,
    startMs: slot.start,
    endMs: slot.end,
  })
  await addTasks(tx, deps, row.id, [task])
  return { row, asking: { holdId, slot } }
}

function requireMovable(row: BookingRow, clock: Clock): void {
  if (row.status === 'pending') throw conflict('The booking is not confirmed yet.')
  if (!isBooked(row)) throw conflict(`The booking was ${row.status}.`)
  if (row.endMs <= clock.now()) throw conflict('The booking has taken place.')
}

async function hasOpenMove(tx: Tx, bookingId: string): Promise<boolean> {
  const open = await tx
    .selectFrom('bookingTasks')
    .select('id')
    .where('bookingId', '=', bookingId)
    .where('type', '=', 'callback')
    .where('dueAt', 'is not', null)
    .limit(1)
    .executeTakeFirst()
  return open !== undefined
}
