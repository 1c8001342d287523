import type { Accounts } from '../../accounts/index.ts'
import type { Recorder } from '../../events/index.ts'
import type { Tx } from '../../platform/db/index.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import type { BookingDecision, StoredSlot } from '../contract.ts'
import type { Definition } from '../experiences/experience.ts'
import { attendeeEmails } from '../guests/booking-mail.ts'
import { blockStore } from '../slots/blocks.ts'
import type { BookingRow } from '../tables.ts'
import { addTasks, cancelTasks, type NewTask, type TaskDeps } from '../work/store.ts'
import { bookedHosts, bookedSlot, isBooked, readSubmission, slotView } from './booking.ts'
import { type BookingEvent, buildEvent, type EventAccount } from './events.ts'
import type { Actor } from './links.ts'
import { assignHosts, bookingStore } from './store.ts'

export interface ChangeDeps extends TaskDeps {
  events: Recorder
  accounts: Pick<Accounts, 'hold' | 'resolve'>
}

/** The changed booking, and the event that reports the change. */
export interface Change {
  row: BookingRow
  event: BookingEvent
}

const DAY_MS = 24 * 60 * 60_000
const MINUTE_MS = 60_000
/** How long messages wait for the calendar, which may give the booking a link to a conference. */
const CALENDAR_FIRST_MS = 60_000
const DEFAULT_REMINDERS = [1440, 60]

interface Cancellation {
  by: Actor
  reason: string | null
  /** 1: guests do not read the reason. Default 0. */
  isReasonInternal?: 0 | 1
  /** False: only hosts get messages. */
  notifiesGuests?: boolean
}

type Kind = 'confirmed' | 'rescheduled' | 'cancelled' | 'rejected'

/** The accounts of hosts, which exist until the transaction ends. */
interface HeldHosts {
  /** The first host that still exists. */
  account: EventAccount
  /** False when an account was deleted. */
  isComplete: boolean
}

/**
 * The changes of a booking's state: the row, its blocks, the remaining work and the event, in the caller's transaction, which has
 * locked the row after `hold`. Locks are taken in this order: hosts, accounts, bookings, events.
 */
export function bookingChanges(deps: ChangeDeps) {
  const { clock, events, accounts } = deps

  /** Prevents the deletion of the hosts' accounts. */
  async function hold(tx: Tx, hosts: readonly string[]): Promise<HeldHosts> {
    const existing = new Map<string, EventAccount>()
    for (const id of [...hosts].sort()) {
      const account = await heldAccount(tx, id)
      if (account !== undefined) existing.set(id, account)
    }
    const first = hosts.find((id) => existing.has(id))
    const account = (first === undefined ? undefined : existing.get(first)) ?? { accountId: null, provider: null }
    return { account, isComplete: existing.size === new Set(hosts).size }
  }

  async function heldAccount(tx: Tx, id: string): Promise<EventAccount | undefined> {
    try {
      await accounts.hold(tx, id)
      return { accountId: id, provider: (await accounts.resolve(tx, id)).provider }
    } catch (error) {
      if (error instanceof AppError && error.code === 'not_found') return undefined
      throw error
    }
  }

  const touched = () => ({ updatedAt: clock.now() })
  const onCalendars = (row: BookingRow) =>
    bookedHosts(row).length === 0 ? {} : { calendarState: 'pending' as const, calendarError: null }

  /** Brings calendars and people to the new state. */
  async function schedule(tx: Tx, row: BookingRow, kind: Kind, notifiesGuests = true): Promise<void> {
    const nowMs = clock.now()
    const hosts = bookedHosts(row)
    await cancelTasks(
      tx,
      row.id,
      ['message', 'reminder', ...(kind === 'rejected' ? [] : (['callback', 'decision'] as const))],
      nowMs,
    )
    const tasks: NewTask[] = []
    if (hosts.length > 0) {
      const messagesAt = nowMs + (kind === 'cancelled' || kind === 'rejected' ? 0 : CALENDAR_FIRST_MS)
      // The task that failed ends in this transaction: another one deletes what it has written.
      const subject = kind === 'rejected' ? 'undo' : ''
      tasks.push({ type: 'calendar', subject, dueAt: nowMs, giveUpAt: nowMs + DAY_MS })
      for (const recipient of chooseRecipients(row, kind, notifiesGuests)) {
        const message = `${kind}:${row.sequence}:${recipient}`
        tasks.push({ type: 'message', subject: message, dueAt: messagesAt, giveUpAt: messagesAt + DAY_MS })
      }
    }
    if (kind === 'confirmed' || kind === 'rescheduled') {
      for (const minutes of await readReminders(tx, row.experienceId)) {
        const dueAt = row.startMs - minutes * MINUTE_MS
        const subject = `${row.sequence}:${minutes}`
        if (dueAt > nowMs) tasks.push({ type: 'reminder', subject, dueAt, giveUpAt: row.startMs })
      }
    }
    await addTasks(tx, deps, row.id, tasks)
  }

  return {
    hold,

    record: (tx: Tx, changes: readonly BookingEvent[]) => events.record(tx, changes),

    /** A new booking that waits for the decision of the application. */
    async create(tx: Tx, row: BookingRow, account: EventAccount): Promise<Change> {
      await bookingStore(tx).insert(row)
      await assignHosts(tx, row)
      return { row, event: { type: 'booking.created', ...buildEvent(row, account) } }
    },

    async confirm(
      tx: Tx,
      before: BookingRow,
      account: EventAccount,
      decision: (BookingDecision & { kind: 'confirmed' }) | undefined,
    ): Promise<Change> {
      const row = await bookingStore(tx).update(before, {
        status: 'confirmed',
        ...decided(before, decision),
        ...touched(),
        ...onCalendars(before),
      })
      await schedule(tx, row, 'confirmed')
      return { row, event: { type: 'booking.confirmed', ...buildEvent(row, account) } }
    },

    /** `isKnown`: the guest reads the reason in the response, and needs no message. */
    async reject(
      tx: Tx,
      before: BookingRow,
      account: EventAccount,
      { reason, isKnown, ...changes }: { reason: string | null; isKnown: boolean } & Partial<BookingRow>,
    ): Promise<Change> {
      const row = await bookingStore(tx).update(before, { status: 'rejected', reason, ...changes, ...touched() })
      await blockStore(tx).deleteOwner(row.id)
      if (!isKnown) await schedule(tx, row, 'rejected')
      const { data, ...rest } = buildEvent(row, account)
      return { row, event: { type: 'booking.rejected', ...rest, data: { ...data, reason } } }
    },

    /** `holdId`: what blocks the new time. Undefined: the host moved the event, and the blocks follow. */
    async move(
      tx: Tx,
      before: BookingRow,
      account: EventAccount,
      slot: StoredSlot,
      { holdId, decision }: { holdId?: string; decision?: (BookingDecision & { kind: 'confirmed' }) | undefined },
    ): Promise<Change> {
      const row = await bookingStore(tx).update(before, {
        status: 'rescheduled',
        slot: JSON.stringify(slot),
        startMs: slot.start,
        endMs: slot.end,
        hosts: JSON.stringify(slot.hosts),
        sequence: before.sequence + 1,
        ...decided(before, decision),
        ...touched(),
        ...onCalendars(before),
      })
      if (holdId !== undefined && (await blockStore(tx).takeOver(holdId, row.id)) === 0)
        throw new AppError('slot_unavailable')
      await assignHosts(tx, row)
      await schedule(tx, row, 'rescheduled')
      const { data, ...rest } = buildEvent(row, account)
      const previousSlot = slotView(bookedSlot(before))
      return { row, event: { type: 'booking.rescheduled', ...rest, data: { ...data, previousSlot } } }
    },

    async cancel(
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
        ...touched(),
        ...onCalendars(before),
      })
      await blockStore(tx).deleteOwner(row.id)
      await schedule(tx, row, 'cancelled', notifiesGuests)
      const { data, ...rest } = buildEvent(row, account)
      return { row, event: { type: 'booking.cancelled', ...rest, data: { ...data, cancelledBy: by, reason } } }
    },

    /** The guest has proved to read the mail of the address: attendees get the invitation, and calendars show the guest. */
    async verify(tx: Tx, before: BookingRow): Promise<BookingRow> {
      const row = await bookingStore(tx).update(before, { verifiedBy: 'link', ...touched() })
      if (!isBooked(row) || bookedHosts(row).length === 0) return row
      const nowMs = clock.now()
      const times = { dueAt: nowMs, giveUpAt: nowMs + DAY_MS }
      const tasks: NewTask[] = [{ type: 'calendar', subject: '', ...times }]
      if (attendeeEmails(readSubmission(row)).length > 0) {
        tasks.push({ type: 'message', subject: `confirmed:${row.sequence}:attendees`, ...times })
      }
      await addTasks(tx, deps, row.id, tasks)
      return row
    },

    /** The events in the calendars show something else than the booking. */
    async showAgain(tx: Tx, row: BookingRow): Promise<void> {
      const nowMs = clock.now()
      await addTasks(tx, deps, row.id, [{ type: 'calendar', subject: '', dueAt: nowMs, giveUpAt: nowMs + DAY_MS }])
    },

    async remind(tx: Tx, before: BookingRow, account: EventAccount, minutesBefore: number): Promise<Change> {
      const row = await bookingStore(tx).update(before, {})
      const nowMs = clock.now()
      const subject = `reminder-${minutesBefore}:${row.sequence}:guest`
      // People who may never have booked are not reminded.
      if (bookedHosts(row).length > 0 && row.verifiedBy !== null) {
        await addTasks(tx, deps, row.id, [{ type: 'message', subject, dueAt: nowMs, giveUpAt: row.startMs }])
      }
      const { data, ...rest } = buildEvent(row, account)
      return { row, event: { type: 'booking.reminder', ...rest, data: { ...data, minutesBefore } } }
    },
  }
}

export type BookingChanges = ReturnType<typeof bookingChanges>

/** Merges the application's decision into a confirmed booking. Its metadata adds to what the guest sent. */
function decided(row: BookingRow, decision: (BookingDecision & { kind: 'confirmed' }) | undefined) {
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

/** `guest`, `attendees`, and the id of each host. A guest who is not verified may be a stranger, who makes us mail strangers. */
function chooseRecipients(row: BookingRow, kind: Kind, notifiesGuests: boolean): string[] {
  if (kind === 'rejected') return ['guest']
  if (!notifiesGuests) return bookedHosts(row)
  const isInvited = row.verifiedBy !== null && attendeeEmails(readSubmission(row)).length > 0
  return ['guest', ...(isInvited ? ['attendees'] : []), ...bookedHosts(row)]
}

/** In minutes before the start: `availability.reminders`, a list that may be empty. */
async function readReminders(tx: Tx, experienceId: string): Promise<number[]> {
  const row = await tx.selectFrom('experiences').select('definition').where('id', '=', experienceId).executeTakeFirst()
  const definition: Definition | undefined = row && JSON.parse(row.definition)
  return definition?.availability?.reminders ?? DEFAULT_REMINDERS
}
