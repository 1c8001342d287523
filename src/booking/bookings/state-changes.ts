/**
 * The changes of a booking's state: the row, its blocks, the remaining work and the event, in the caller's transaction, which has
 * locked the row after `holdHosts`, and records the event. Locks are taken in this order: hosts, accounts, bookings, events.
 */
import type { Accounts } from '../../accounts/index.ts'
import type { Recorder } from '../../events/index.ts'
import type { Tx } from '../../platform/db/index.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { BookingDecision, StoredSlot } from '../contract.ts'
import { blockStore } from '../slots/blocks.ts'
import type { BookingRow } from '../tables.ts'
import { scheduleInvitations, scheduleReminder, scheduleTasks } from '../tasks/after-change.ts'
import type { TaskDeps } from '../tasks/store.ts'
import { bookedHosts, bookedSlot, isBooked, readSubmission, slotView } from './booking.ts'
import { type BookingEvent, buildEvent, type EventAccount } from './events.ts'
import type { Actor } from './links.ts'
import { assignHosts, bookingStore } from './store.ts'

export interface ChangeDeps extends TaskDeps {
  events: Recorder
  accounts: Pick<Accounts, 'hold' | 'resolve'>
}

/** The changed booking, and the event that reports the change. */
interface Change {
  row: BookingRow
  event: BookingEvent
}

/** The accounts of hosts, which exist until the transaction ends. */
interface HeldHosts {
  /** The first host that still exists. */
  account: EventAccount
  /** False when an account was deleted. */
  isComplete: boolean
}

type Confirmation = BookingDecision & { kind: 'confirmed' }

interface Rejection extends Partial<BookingRow> {
  reason: string | null
  /** The guest reads the reason in the response, and needs no message. */
  isKnown: boolean
}

interface Move {
  slot: StoredSlot
  /** The hold that blocks the new time. Undefined when the host moved the event: the blocks of the booking then move, too. */
  holdId?: string
  decision?: Confirmation | undefined
}

interface Cancellation {
  by: Actor
  reason: string | null
  /** 1: guests do not read the reason. Default 0. */
  isReasonInternal?: 0 | 1
  /** False: only hosts get messages. */
  notifiesGuests?: boolean
}

/** Prevents the deletion of the hosts' accounts. */
export async function holdHosts(
  { accounts }: Pick<ChangeDeps, 'accounts'>,
  tx: Tx,
  hosts: readonly string[],
): Promise<HeldHosts> {
  const existing = new Map<string, EventAccount>()
  for (const id of [...hosts].sort()) {
    const account = await holdAccount(accounts, tx, id)
    if (account !== undefined) existing.set(id, account)
  }
  const first = hosts.find((id) => existing.has(id))
  const account = (first === undefined ? undefined : existing.get(first)) ?? { accountId: null, provider: null }
  return { account, isComplete: existing.size === new Set(hosts).size }
}

async function holdAccount(accounts: ChangeDeps['accounts'], tx: Tx, id: string): Promise<EventAccount | undefined> {
  try {
    await accounts.hold(tx, id)
    return { accountId: id, provider: (await accounts.resolve(tx, id)).provider }
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return undefined
    throw error
  }
}

/** A new booking that waits for the decision of the application. */
export async function storeNew(tx: Tx, row: BookingRow, account: EventAccount): Promise<Change> {
  await bookingStore(tx).insert(row)
  await assignHosts(tx, row)
  return { row, event: { type: 'booking.created', ...buildEvent(row, account) } }
}

export async function storeConfirmation(
  deps: ChangeDeps,
  tx: Tx,
  before: BookingRow,
  account: EventAccount,
  decision: Confirmation | undefined,
): Promise<Change> {
  const row = await bookingStore(tx).update(before, {
    status: 'confirmed',
    ...mergeDecision(before, decision),
    updatedAt: deps.clock.now(),
    ...outdatedCalendars(before),
  })
  await scheduleTasks(deps, tx, row, 'confirmed')
  return { row, event: { type: 'booking.confirmed', ...buildEvent(row, account) } }
}

export async function storeRejection(
  deps: ChangeDeps,
  tx: Tx,
  before: BookingRow,
  account: EventAccount,
  { reason, isKnown, ...changes }: Rejection,
): Promise<Change> {
  const updatedAt = deps.clock.now()
  const row = await bookingStore(tx).update(before, { status: 'rejected', reason, ...changes, updatedAt })
  await blockStore(tx).deleteOwner(row.id)
  if (!isKnown) await scheduleTasks(deps, tx, row, 'rejected')
  const { data, ...rest } = buildEvent(row, account)
  return { row, event: { type: 'booking.rejected', ...rest, data: { ...data, reason } } }
}

export async function storeMove(
  deps: ChangeDeps,
  tx: Tx,
  before: BookingRow,
  account: EventAccount,
  { slot, holdId, decision }: Move,
): Promise<Change> {
  const row = await bookingStore(tx).update(before, {
    status: 'rescheduled',
    slot: JSON.stringify(slot),
    startMs: slot.start,
    endMs: slot.end,
    hosts: JSON.stringify(slot.hosts),
    sequence: before.sequence + 1,
    ...mergeDecision(before, decision),
    updatedAt: deps.clock.now(),
    ...outdatedCalendars(before),
  })
  if (holdId !== undefined && (await blockStore(tx).takeOver(holdId, row.id)) === 0)
    throw new AppError('slot_unavailable')
  await assignHosts(tx, row)
  await scheduleTasks(deps, tx, row, 'rescheduled')
  const { data, ...rest } = buildEvent(row, account)
  const previousSlot = slotView(bookedSlot(before))
  return { row, event: { type: 'booking.rescheduled', ...rest, data: { ...data, previousSlot } } }
}

export async function storeCancellation(
  deps: ChangeDeps,
  tx: Tx,
  before: BookingRow,
  account: EventAccount,
  { by, reason, isReasonInternal = 0, notifiesGuests = true }: Cancellation,
): Promise<Change> {
  const row = await bookingStore(tx).update(before, {
    status: 'cancelled',
    cancelledBy: by,
    reason,
    isReasonInternal,
    sequence: before.sequence + 1,
    updatedAt: deps.clock.now(),
    ...outdatedCalendars(before),
  })
  await blockStore(tx).deleteOwner(row.id)
  await scheduleTasks(deps, tx, row, 'cancelled', { notifiesGuests })
  const { data, ...rest } = buildEvent(row, account)
  return { row, event: { type: 'booking.cancelled', ...rest, data: { ...data, cancelledBy: by, reason } } }
}

/** The guest has proved to read the mail of the address. */
export async function storeVerification(deps: ChangeDeps, tx: Tx, before: BookingRow): Promise<BookingRow> {
  const row = await bookingStore(tx).update(before, { verifiedBy: 'link', updatedAt: deps.clock.now() })
  if (isBooked(row) && bookedHosts(row).length > 0) await scheduleInvitations(deps, tx, row)
  return row
}

export async function storeReminder(
  deps: ChangeDeps,
  tx: Tx,
  before: BookingRow,
  account: EventAccount,
  minutesBefore: number,
): Promise<Change> {
  const row = await bookingStore(tx).update(before, {})
  // People who may never have booked are not reminded.
  if (bookedHosts(row).length > 0 && row.verifiedBy !== null) await scheduleReminder(deps, tx, row, minutesBefore)
  const { data, ...rest } = buildEvent(row, account)
  return { row, event: { type: 'booking.reminder', ...rest, data: { ...data, minutesBefore } } }
}

/** The calendars of the hosts do not show the change yet. */
function outdatedCalendars(row: BookingRow) {
  return bookedHosts(row).length === 0 ? {} : { calendarState: 'pending' as const, calendarError: null }
}

/** Merges the application's decision into a confirmed booking. Its metadata adds to what the guest sent. */
function mergeDecision(row: BookingRow, decision: Confirmation | undefined) {
  if (decision === undefined) return {}
  const { eventId, joinUrl, metadata, guestVerified } = decision
  const submission = readSubmission(row)
  return {
    ...(eventId !== null && { eventId }),
    ...(joinUrl !== null && { joinUrl }),
    ...(guestVerified === true && { verifiedBy: 'application' as const }),
    ...(metadata !== null && {
      given: JSON.stringify({ ...submission, metadata: { ...submission.metadata, ...metadata } }),
    }),
  }
}
