import type { Db, Tx } from '../../../platform/db/index.ts'
import { AppError } from '../../../platform/errors/app-error.ts'
import type { BookingDecision, Callbacks, Slot, StoredSlot } from '../../contract.ts'
import type { Experience } from '../../experiences/experience.ts'
import { refundGuest, rememberPeople } from '../../guests/booking-mail.ts'
import type { MailBudget } from '../../guests/budget.ts'
import { blockStore } from '../../slots/blocks.ts'
import type { BookingRow } from '../../tables.ts'
import { addTasks, cancelTasks, completeTask, type NewTask } from '../../tasks/store.ts'
import { bookedHosts, bookedSlot, conflict, isBooked, readSubmission } from '../booking.ts'
import { type ChangeDeps, holdHosts, storeConfirmation, storeMove, storeRejection } from '../state-changes.ts'
import { bookingStore } from '../store.ts'

export interface DecisionDeps extends ChangeDeps {
  db: Db
  callbacks: Callbacks
  budget: MailBudget
  /** After which a process that has asked counts as dead. Default: 30 s, longer than the callback may take. */
  askAgainMs?: number | undefined
}

/** A move that the application is asked about. */
export interface Asking {
  holdId: string
  slot: StoredSlot
}

const ASK_AGAIN_MS = 30_000
/** How long a slot stays blocked while the application cannot be reached. */
const GIVE_UP_MS = 10 * 60_000
const ASK_MS = 20_000
const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
/** The time for a decision after the application answered `pending`. */
const DECISION_MINUTES = 1440

/** The task that asks again, in case the process dies before it stores the decision. `subject`: the hold of a move. */
export function buildAskingTask(
  { clock, askAgainMs = ASK_AGAIN_MS }: Pick<DecisionDeps, 'clock' | 'askAgainMs'>,
  subject: string,
): NewTask {
  const nowMs = clock.now()
  return { type: 'callback', subject, dueAt: nowMs + askAgainMs, giveUpAt: nowMs + GIVE_UP_MS }
}

/** `next`: where the booking is to be moved. Returns undefined without a booking endpoint. */
export function askApplication(
  { callbacks }: Pick<DecisionDeps, 'callbacks'>,
  experience: Experience,
  row: BookingRow,
  { requestId, next }: { requestId?: string; next?: StoredSlot },
): Promise<BookingDecision | undefined> {
  const { guest, attendees, responses, metadata } = readSubmission(row)
  const current = withoutHosts(bookedSlot(row))
  return callbacks.book(
    experience,
    {
      bookingId: row.id,
      guest,
      attendees,
      responses,
      metadata,
      ...(requestId !== undefined && { requestId }),
      ...(next === undefined ? { slot: current } : { slot: withoutHosts(next), previousSlot: current }),
    },
    AbortSignal.timeout(ASK_MS),
  )
}

/**
 * Confirms or rejects a pending booking, or lets it wait. One that was decided meanwhile stays as it is. Throws the refusal, or the
 * failure of the callback. `isKnown`: the guest reads the reason in the response.
 */
export async function decideBooking(
  deps: DecisionDeps,
  id: string,
  decision: BookingDecision | undefined,
  { experience, isKnown }: { experience: Experience; isKnown: boolean },
): Promise<BookingRow> {
  const { db, clock } = deps
  const booking = await bookingStore(db.read).get(id)
  const row = await db.transaction(async (tx) => {
    if (decision?.kind !== 'pending') return storeDecision(deps, tx, booking, decision, isKnown)
    await holdHosts(deps, tx, bookedHosts(booking))
    const before = await bookingStore(tx).lock(id, db.dialect)
    if (before.status !== 'pending') return before
    await completeTask(tx, id, 'callback', '', clock.now())
    await addTasks(tx, deps, id, [buildDecisionTask(before, experience, clock.now())])
    return before
  })
  if (row.status === 'rejected') throw refusal(decision, row.reason)
  if (row.status === 'cancelled') throw conflict('The booking was cancelled meanwhile.')
  return row
}

/** The task that rejects the booking unless the application decides in time, and before it takes place. */
function buildDecisionTask({ startMs }: BookingRow, { definition }: Experience, nowMs: number): NewTask {
  const minutes = definition.availability?.decisionMinutes ?? DECISION_MINUTES
  const dueAt = Math.max(nowMs + MINUTE_MS, Math.min(nowMs + minutes * MINUTE_MS, startMs))
  return { type: 'decision', subject: '', dueAt, giveUpAt: dueAt + DAY_MS }
}

/** Returns the row after the decision. One that was decided meanwhile stays as it is. `isKnown`: as in `decideBooking`. */
export async function storeDecision(
  deps: DecisionDeps,
  tx: Tx,
  booking: BookingRow,
  decision: Exclude<BookingDecision, { kind: 'pending' }> | undefined,
  isKnown: boolean,
): Promise<BookingRow> {
  const { db, clock, events, budget } = deps
  const { account } = await holdHosts(deps, tx, bookedHosts(booking))
  const before = await bookingStore(tx).lock(booking.id, db.dialect)
  if (before.status !== 'pending') return before
  for (const type of ['callback', 'decision'] as const) await completeTask(tx, booking.id, type, '', clock.now())
  const change =
    decision === undefined || decision.kind === 'confirmed'
      ? await storeConfirmation(deps, tx, before, account, decision)
      : await storeRejection(deps, tx, before, account, {
          reason: decision.reason,
          isKnown,
          // The guest may try again with the same key.
          ...(decision.kind === 'failed' && { isReasonInternal: 1, requestKey: null }),
        })
  const isVouched = decision?.kind === 'confirmed' && decision.guestVerified === true
  // A guest who reads the refusal in the response gets no message.
  if (isVouched || (change.row.status === 'rejected' && isKnown)) await refundGuest(tx, budget, change.row)
  if (isVouched) await rememberPeople(tx, budget, change.row)
  await events.record(tx, [change.event])
  return change.row
}

/** After the callback has failed, or the application has not decided, for too long. The guest gets a message without the reason. */
export async function rejectPending(deps: DecisionDeps, tx: Tx, id: string, reason: string): Promise<void> {
  const booking = await bookingStore(tx).get(id)
  const { account } = await holdHosts(deps, tx, bookedHosts(booking))
  const before = await bookingStore(tx).lock(id, deps.db.dialect)
  if (before.status !== 'pending') return
  const { event } = await storeRejection(deps, tx, before, account, {
    reason,
    isReasonInternal: 1,
    isKnown: false,
    requestKey: null,
  })
  await deps.events.record(tx, [event])
}

/** As `decideBooking`, for a move: what was refused leaves the booking as it was. */
export async function decideMove(
  deps: DecisionDeps,
  id: string,
  holdId: string,
  decision: BookingDecision | undefined,
): Promise<BookingRow> {
  const { db, clock, events } = deps
  const booking = await bookingStore(db.read).get(id)
  const hold = await bookingStore(db.read).findHold(holdId)
  const slot: StoredSlot | undefined = hold && JSON.parse(hold.slot)
  const row = await db.transaction(async (tx) => {
    const { account } = await holdHosts(deps, tx, [...new Set([...(slot?.hosts ?? []), ...bookedHosts(booking)])])
    const before = await bookingStore(tx).lock(id, db.dialect)
    await completeTask(tx, id, 'callback', holdId, clock.now())
    const isOpen = slot !== undefined && (await bookingStore(tx).removeHold(holdId))
    // Another request or task got the decision first.
    if (!isOpen) return before
    if (!isBooked(before) || (decision !== undefined && decision.kind !== 'confirmed')) {
      await dropHold(tx, holdId)
      return before
    }
    const moved = await storeMove(deps, tx, before, account, { slot, holdId, decision })
    await events.record(tx, [moved.event])
    return moved.row
  })
  if (row.status === 'cancelled') throw conflict('The booking was cancelled meanwhile.')
  if (decision?.kind === 'pending') throw refusal(undefined, 'A booking cannot wait for a decision about its new time.')
  if (decision !== undefined && decision.kind !== 'confirmed') throw refusal(decision, decision.reason)
  return row
}

/** Ends the open decisions about moves of the booking, which no longer matter. */
export async function cancelOpenMoves(tx: Tx, bookingId: string, nowMs: number): Promise<void> {
  const open = await tx
    .selectFrom('bookingTasks')
    .select('subject')
    .where('bookingId', '=', bookingId)
    .where('type', '=', 'callback')
    .where('dueAt', 'is not', null)
    .execute()
  for (const { subject } of open) if (subject !== '') await dropHold(tx, subject)
  await cancelTasks(tx, bookingId, ['callback'], nowMs)
}

/** Ends what blocks the new time of a move. */
export async function dropHold(tx: Tx, holdId: string): Promise<void> {
  await bookingStore(tx).removeHold(holdId)
  await blockStore(tx).deleteOwner(holdId)
}

/** Ids of accounts that the availability callback did not name are nobody's business but ours. */
function withoutHosts({ start, end, timezone, participants, metadata }: StoredSlot): Slot {
  return { start, end, timezone, participants, metadata }
}

/** The error of a booking or move that the application refused. */
export function refusal(decision: BookingDecision | undefined, reason: string | null): AppError {
  if (decision?.kind === 'failed') return new AppError(decision.code, { privateDetails: [decision.detail] })
  return new AppError('slot_unavailable', reason === null ? {} : { message: reason })
}
