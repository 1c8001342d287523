import type { Accounts } from '../../accounts/index.ts'
import type { CalendarChanger } from '../../calendars/index.ts'
import type { Db, Tx } from '../../platform/db/index.ts'
import { AppError } from '../../platform/errors/app-error.ts'
import { isoTime } from '../../platform/time/time.ts'
import { ProviderError, type ProviderName } from '../../providers/contract/index.ts'
import { bookedHosts, bookedSlot, isBooked, readSubmission } from '../bookings/booking.ts'
import type { Links } from '../bookings/links.ts'
import { type ChangeDeps, holdHosts, storeRejection } from '../bookings/state-changes.ts'
import { bookingStore } from '../bookings/store.ts'
import type { Experience } from '../experiences/experience.ts'
import { shownGuest } from '../guests/shown-in-mail.ts'
import type { BookingRow } from '../tables.ts'
import { eventDescription } from './event-text.ts'
import { type Commit, Refused, type TaskKind } from './run.ts'
import { makeMessagesDue } from './store.ts'

export interface CalendarTaskDeps extends ChangeDeps {
  db: Db
  accounts: ChangeDeps['accounts'] & Pick<Accounts, 'get'>
  changer: Pick<CalendarChanger, 'create' | 'update' | 'remove'>
  links: Links
  findExperience(id: string): Promise<Experience | undefined>
}

interface Written {
  eventId: string
  joinUrl: string | null
}

/** The `eventId` of a row whose event may not exist yet. The number is part of the event's key at the provider. */
const NEW = /^new:(\d+)$/
/** At other providers than Google, the only attendees of the event are those whom the host added. They are notified of changes. */
const notifying = (provider: ProviderName) => ({
  scope: undefined,
  sendUpdates: provider === 'gmail' ? ('none' as const) : ('all' as const),
})

/**
 * Brings the calendars of the hosts to the state of the booking, whatever it was before:
 *
 *     hosts of a booking that takes place ─▶ their event exists, with the slot, the guest and the answers
 *     everybody else who has an event     ─▶ it is deleted
 *
 * The row of an event is stored before the event is created, with the number that its key at the provider is made of. So an attempt
 * that was killed is repeated with the same key, which creates nothing twice, and a booking that was cancelled meanwhile leaves
 * nothing behind.
 */
export function calendarTask(deps: CalendarTaskDeps): TaskKind {
  return {
    work: (booking) => writeCalendars(deps, booking),
    onFailure: (booking, _task, reason) => (tx) =>
      bookingStore(tx).setCalendar(booking.id, { calendarState: 'failing', calendarError: reason }),
    onGiveUp: (booking, _task, reason) => (tx) => rejectBooking(deps, tx, booking, reason),
  }
}

async function findProvider({ accounts }: CalendarTaskDeps, hostId: string): Promise<ProviderName | undefined> {
  return accounts.get(hostId).then(({ provider }) => provider, undefinedIfMissing)
}

/** Deletes the event of an account that no longer takes part. */
async function removeEvent(
  deps: CalendarTaskDeps,
  booking: BookingRow,
  hostId: string,
  stored: { calendarId: string; eventId: string },
): Promise<void> {
  const { changer, db } = deps
  const provider = await findProvider(deps, hostId)
  if (provider !== undefined) {
    const isNew = NEW.test(stored.eventId)
    // A killed attempt may have created it. With the same key, this one finds it.
    const event = { booking, hostId, intent: stored.eventId, provider, conference: false }
    const found = isNew ? await createEvent(deps, event) : stored
    if (found !== undefined) {
      const { calendarId, eventId } = found
      await changer.remove({ accountId: hostId, calendarId, eventId }, notifying(provider)).catch(undefinedIfMissing)
    }
  }
  await db.transaction(async (tx) => {
    await tx.deleteFrom('bookingEvents').where('bookingId', '=', booking.id).where('hostId', '=', hostId).execute()
  })
}

function buildEvent(
  { links }: CalendarTaskDeps,
  booking: BookingRow,
  provider: ProviderName,
  experience: Experience | undefined,
  conference: boolean,
) {
  const slot = bookedSlot(booking)
  const { guest } = readSubmission(booking)
  // An attendee finds the event, with the answers in it, in a calendar. Only a guest who is verified is one.
  const showsGuest = provider === 'gmail' && booking.verifiedBy !== null
  const time = (ms: number) => ({ dateTime: isoTime(Math.floor(ms / 1000) * 1000), timeZone: slot.timezone })
  return {
    summary: buildSummary(experience?.name ?? booking.experienceSlug, guest),
    // At Google the guest sees the event, so that its links are those of the guest.
    description: eventDescription(booking, links.of(booking, showsGuest ? 'guest' : 'host'), experience),
    ...(booking.joinUrl !== null && !conference && { location: booking.joinUrl.slice(0, 1024) }),
    start: time(booking.startMs),
    end: time(booking.endMs),
    // The others send an invitation to every attendee, and the guest has one.
    ...(showsGuest && { attendees: [{ email: guest.email, displayName: shownGuest(booking).name }] }),
    ...(conference && { conference }),
  }
}

interface NewEvent {
  booking: BookingRow
  hostId: string
  /** Part of the key at the provider: see `NEW`. */
  intent: string
  provider: ProviderName
  /** Whether the provider creates an online meeting. */
  conference: boolean
}

/** Returns undefined when the host has no calendar. */
async function createEvent(
  deps: CalendarTaskDeps,
  { booking, hostId, intent, provider, conference }: NewEvent,
): Promise<(Written & { calendarId: string }) | undefined> {
  const { changer, db, findExperience } = deps
  const experience = await findExperience(booking.experienceId)
  const requestKey = `${booking.id} ${hostId} ${intent}`
  const path = { accountId: hostId, calendarId: 'primary' }
  const body = buildEvent(deps, booking, provider, experience, conference)
  const store = await changer.create(path, body, { requestKey, sendUpdates: 'none' }).catch(undefinedIfMissing)
  if (store === undefined) return undefined
  const { id, calendarId, joinUrl } = await db.transaction(async (tx) => {
    const event = await store(tx)
    await tx
      .updateTable('bookingEvents')
      .set({ calendarId: event.calendarId, eventId: event.id })
      .where('bookingId', '=', booking.id)
      .where('hostId', '=', hostId)
      .execute()
    return event
  })
  return { calendarId, eventId: id, joinUrl }
}

/** Creates or updates the event of a host. Returns undefined when the host has no calendar, or has deleted the event. */
async function writeEvent(
  deps: CalendarTaskDeps,
  booking: BookingRow,
  hostId: string,
  stored: { calendarId: string; eventId: string } | undefined,
  wantsConference: boolean,
): Promise<Written | undefined> {
  const { changer, db, findExperience } = deps
  const provider = await findProvider(deps, hostId)
  if (provider === undefined) throw new Refused('The account of a host was deleted.')
  const conference = wantsConference && provider !== 'imap' && booking.joinUrl === null
  if (stored !== undefined && !NEW.test(stored.eventId)) {
    const experience = await findExperience(booking.experienceId)
    const path = { accountId: hostId, calendarId: stored.calendarId, eventId: stored.eventId }
    const body = buildEvent(deps, booking, provider, experience, conference)
    const event = await changer
      .update(path, body, { ...notifying(provider), ifMatch: undefined })
      .catch(undefinedIfMissing)
    // The host has deleted it, as sync will find out.
    return event === undefined ? undefined : { eventId: event.id, joinUrl: event.joinUrl }
  }
  const intent = stored?.eventId ?? `new:${booking.sequence}`
  if (stored === undefined) {
    const row = { bookingId: booking.id, hostId, calendarId: '', eventId: intent }
    await db.transaction(async (tx) => {
      await tx
        .insertInto('bookingEvents')
        .values(row)
        .onConflict((conflict) => conflict.doNothing())
        .execute()
    })
  }
  return createEvent(deps, { booking, hostId, intent, provider, conference })
}

/** Writes all calendars, and returns what remains to be stored. */
async function writeCalendars(deps: CalendarTaskDeps, booking: BookingRow): Promise<Commit> {
  const { clock, db, findExperience } = deps
  const wanted = isBooked(booking) ? bookedHosts(booking) : []
  const rows = await db.read.selectFrom('bookingEvents').selectAll().where('bookingId', '=', booking.id).execute()
  const stored = new Map(rows.map((row) => [row.hostId, row]))
  const experience = await findExperience(booking.experienceId)
  const asks = experience?.definition.availability?.conference ?? bookedSlot(booking).metadata.conference
  let current = booking
  let first: Written | undefined
  let count = 0
  for (const hostId of wanted) {
    const isFirst = hostId === wanted[0]
    const written = await withRefusal(writeEvent(deps, current, hostId, stored.get(hostId), asks === true && isFirst))
    if (isFirst) first = written
    if (written !== undefined) count += 1
    // The calendars of the others show the link of the first one.
    if (isFirst && current.joinUrl === null) current = { ...current, joinUrl: written?.joinUrl ?? null }
  }
  for (const [hostId, row] of stored) {
    if (!wanted.includes(hostId)) await withRefusal(removeEvent(deps, booking, hostId, row))
  }
  return async (tx) => {
    await holdHosts(deps, tx, bookedHosts(booking))
    const row = await bookingStore(tx).lock(booking.id, db.dialect)
    if (isBooked(row) && first !== undefined) {
      const eventId = row.eventId ?? first.eventId
      const joinUrl = row.joinUrl ?? first.joinUrl
      if (eventId !== row.eventId || joinUrl !== row.joinUrl) await bookingStore(tx).update(row, { eventId, joinUrl })
    }
    const state = wanted.length > 0 && count === 0 ? 'none' : 'written'
    // A rejected booking shows what its calendars refused.
    if (row.status !== 'rejected') {
      await bookingStore(tx).setCalendar(row.id, { calendarState: state, calendarError: null })
    }
    await makeMessagesDue(tx, row.id, clock.now())
  }
}

/** Ends the booking: other hosts lose their events, and the guest gets a message. */
async function rejectBooking(deps: CalendarTaskDeps, tx: Tx, booking: BookingRow, reason: string): Promise<void> {
  const { account } = await holdHosts(deps, tx, bookedHosts(booking))
  const row = await bookingStore(tx).lock(booking.id, deps.db.dialect)
  const state = { calendarState: 'failed' as const, calendarError: reason }
  await bookingStore(tx).setCalendar(row.id, state)
  if (!isBooked(row)) return
  const why = 'The calendar of a host did not take the booking.'
  const { event } = await storeRejection(deps, tx, row, account, {
    reason: why,
    isReasonInternal: 1,
    isKnown: false,
    ...state,
  })
  await deps.events.record(tx, [event])
}

function buildSummary(name: string, { name: guest, email }: { name: string; email: string }): string {
  const text = `${name}: ${guest === '' ? email : guest}`
  return text
    .replaceAll(/[\u0000-\u0020\u007f-\u009f\u2028\u2029]+/g, ' ')
    .slice(0, 1000)
    .toWellFormed()
}

/** Throws `Refused` for failures that repeating cannot change. Credentials that a provider refuses may be replaced within the day. */
async function withRefusal<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const isFinal = error.code === 'not_supported' || error.code === 'validation_failed'
    const isRejected = error.code === 'provider_rejected' && errorKind(error.cause) === 'rejected'
    if (isFinal || isRejected) throw new Refused(error.message)
    throw error
  }
}

function errorKind(cause: unknown): string | undefined {
  return cause instanceof ProviderError ? cause.kind : undefined
}

/** For `catch`: the account, its calendar or the event was deleted. */
function undefinedIfMissing(error: unknown): undefined {
  if (!(error instanceof AppError) || error.code !== 'not_found') throw error
}
