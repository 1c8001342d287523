import type { Tx } from '../../platform/db/index.ts'
import { bookedHosts, readSubmission } from '../bookings/booking.ts'
import type { Definition } from '../experiences/experience.ts'
import { attendeeEmails } from '../guests/booking-mail.ts'
import type { BookingRow } from '../tables.ts'
import { addTasks, cancelTasks, type NewTask, type TaskDeps } from './store.ts'

/** A change of a booking that needs background work. */
type ChangeKind = 'confirmed' | 'rescheduled' | 'cancelled' | 'rejected'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
/** How long messages wait for the calendar, which may give the booking a link to a conference. */
const CALENDAR_FIRST_MS = MINUTE_MS
const DEFAULT_REMINDERS = [1440, 60]

/** Brings calendars and people to the new state. With `notifiesGuests: false`, only hosts get messages. */
export async function scheduleTasks(
  deps: TaskDeps,
  tx: Tx,
  row: BookingRow,
  kind: ChangeKind,
  { notifiesGuests = true } = {},
): Promise<void> {
  const nowMs = deps.clock.now()
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

/** After the guest was verified: attendees get the invitation, and calendars show the guest. */
export async function scheduleInvitations(deps: TaskDeps, tx: Tx, row: BookingRow): Promise<void> {
  const nowMs = deps.clock.now()
  const times = { dueAt: nowMs, giveUpAt: nowMs + DAY_MS }
  const tasks: NewTask[] = [{ type: 'calendar', subject: '', ...times }]
  if (attendeeEmails(readSubmission(row)).length > 0) {
    tasks.push({ type: 'message', subject: `confirmed:${row.sequence}:attendees`, ...times })
  }
  await addTasks(tx, deps, row.id, tasks)
}

/** The events in the calendars show something else than the booking. */
export async function scheduleCalendars(deps: TaskDeps, tx: Tx, row: BookingRow): Promise<void> {
  const nowMs = deps.clock.now()
  await addTasks(tx, deps, row.id, [{ type: 'calendar', subject: '', dueAt: nowMs, giveUpAt: nowMs + DAY_MS }])
}

export async function scheduleReminder(deps: TaskDeps, tx: Tx, row: BookingRow, minutesBefore: number): Promise<void> {
  const subject = `reminder-${minutesBefore}:${row.sequence}:guest`
  const task = { type: 'message', subject, dueAt: deps.clock.now(), giveUpAt: row.startMs } as const
  await addTasks(tx, deps, row.id, [task])
}

/** `guest`, `attendees`, and the id of each host. A guest who is not verified may be a stranger, who makes us mail strangers. */
function chooseRecipients(row: BookingRow, kind: ChangeKind, notifiesGuests: boolean): string[] {
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
