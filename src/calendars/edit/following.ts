import { readLive } from '../../accounts/index.ts'
import { deriveUuid } from '../../platform/crypto/derived-uuid.ts'
import { AppError, type ErrorDetail, invalidFields, notFound } from '../../platform/errors/app-error.ts'
import {
  type CalendarEdits,
  type CreateEvent,
  type EventInput,
  type EventTime,
  ProviderError,
  type RemoteEvent,
  type ZonedTime,
} from '../../providers/contract/index.ts'
import { type CalendarEventView, originalStartText } from '../api.ts'
import { toOriginalStart } from '../instances/times.ts'
import { LIVE_MS } from '../read/calendar-access.ts'
import { type EventRow, eventStore } from '../store.ts'
import { type EventChangeDeps, type OpenEvent, requireNotify } from './access.ts'
import type { EventBody, SendUpdates } from './api.ts'
import { parseEventInput } from './input.ts'
import { storedRows, unstoredEvent, wholeSeries } from './scope.ts'
import { type SplitRecurrence, splitRecurrence } from './split-recurrence.ts'
import { type Accepted, storeChange } from './storing.ts'
import { instanceEvent } from './target.ts'

/**
 * A change of an instance and all that follow is two changes at the provider, in this order:
 *
 *     create a series that begins with the instance ──► end the other one before it
 *
 * Between both, instances are there twice; in the other order they would be missing. The key of the first change depends only on the
 * instance, so a request that is repeated after a crash finds the created series, and ends the other one.
 */
interface Split extends SplitRecurrence {
  /** The series as the provider has it now. */
  master: RemoteEvent
  /** The instance as its series says. */
  instance: RemoteEvent
}

/** Undefined for the first instance: then it is the whole series that changes. Throws `not_found`. */
async function findSplit({ target, edits, calendar }: OpenEvent, signal: AbortSignal): Promise<Split | undefined> {
  const { original } = target.instance ?? { original: '' }
  const { remote } = wholeSeries(target)
  const master = await readLive('The series', () => edits.getEvent(remote, signal))
  const instance = instanceEvent(master, original, calendar.timeZone)
  if (instance === undefined) throw notFound('event', original)
  if (originalStartText(toOriginalStart(master.start, calendar.timeZone)) === original) return undefined
  return { ...splitRecurrence(master.recurrence, master.start, original, calendar.timeZone), master, instance }
}

/** Returns the new series, or undefined for the first instance. */
export async function changeFollowing(
  deps: EventChangeDeps,
  opened: OpenEvent,
  body: EventBody,
  sendUpdates: SendUpdates,
): Promise<CalendarEventView | undefined> {
  const { account, calendar, edits, target } = opened
  const signal = AbortSignal.timeout(2 * LIVE_MS)
  const split = await findSplit(opened, signal)
  if (split === undefined) return undefined
  const { master, instance, after } = split
  const errors: ErrorDetail[] = []
  const current = { start: instance.start, end: instance.end, recurrence: after }
  const input = parseEventInput(body, current, calendar.timeZone, errors)
  if (errors.length > 0) throw invalidFields(errors)
  const times = { start: zoned(instance.start, calendar.timeZone), end: zoned(instance.end, calendar.timeZone) }
  const event: EventInput = { ...toInput(master), ...times, recurrence: after, ...input }
  requireNotify(account, sendUpdates, event.attendees.length > 0)
  if (account.provider === 'imap' && event.conference) {
    const message = 'The link to the video conference cannot be copied to another series. Create a new series with it.'
    throw new AppError('not_supported', { message })
  }
  const notify = sendUpdates === 'all'
  const key = deriveUuid(JSON.stringify([calendar.id, master.eventId, target.instance?.original]))
  const request = { calendarId: calendar.providerId, key, event, notify, signal }
  const { created, row } = await readLive('The calendar', () => createAsGiven(deps, opened, request))
  const ended = await readLive('The series', () =>
    end(opened, split, notify, signal).catch(undo(edits, request, created)),
  )
  const accepted = await acceptedEnd(deps, opened, [ended, created], row)
  return storeChange(deps, edits, accepted, created)
}

/** Ends a series before the instance. False for its first instance: then the whole series is to be deleted. */
export async function endBefore(deps: EventChangeDeps, opened: OpenEvent, notify: boolean): Promise<boolean> {
  const signal = AbortSignal.timeout(LIVE_MS)
  const split = await findSplit(opened, signal)
  if (split === undefined) return false
  const ended = await readLive('The series', () => end(opened, split, notify, signal))
  const accepted = await acceptedEnd(deps, opened, [ended])
  await storeChange(deps, opened.edits, accepted, ended)
  return true
}

function end({ edits, target }: OpenEvent, { before }: Split, notify: boolean, signal: AbortSignal) {
  const { remote } = wholeSeries(target)
  return edits.updateEvent({ ...remote, changes: { recurrence: before }, etag: null, notify, signal })
}

async function acceptedEnd(
  { db }: EventChangeDeps,
  opened: OpenEvent,
  found: RemoteEvent[],
  createdRow?: EventRow,
): Promise<Accepted> {
  const { account, calendar, target } = opened
  const original = target.instance?.original ?? ''
  const exceptions = await eventStore(db.read, calendar.id).findExceptions(target.instance?.master.eventId ?? '')
  const removed = exceptions.flatMap((row) => ((row.originalStart ?? '') >= original ? [row.providerId] : []))
  const before = [...storedRows(target), ...exceptions, ...(createdRow === undefined ? [] : [createdRow])]
  return { account, calendar, before, unstored: unstoredEvent(target), found, removed, isSeries: true }
}

/** An earlier request may have created the series with other values, and sync may have stored it. */
async function createAsGiven({ db }: EventChangeDeps, { edits, calendar }: OpenEvent, request: CreateEvent) {
  const created = await edits.createEvent(request)
  const { calendarId, event, notify, signal } = request
  const row = (await eventStore(db.read, calendar.id).byProviderIds([created.eventId])).get(created.eventId)
  const isGiven =
    created.summary === event.summary &&
    created.location === event.location &&
    JSON.stringify([created.start, created.end]) === JSON.stringify([event.start, event.end])
  if (isGiven) return { created, row }
  const target = { calendarId, eventId: created.eventId, instance: null }
  return { created: await edits.updateEvent({ ...target, changes: event, etag: null, notify, signal }), row }
}

/** When the other series certainly stays as it is, the new one is deleted again. Otherwise the request can be repeated. */
function undo(edits: CalendarEdits, { calendarId, notify, signal }: CreateEvent, { eventId }: RemoteEvent) {
  return async (error: unknown): Promise<never> => {
    const isFinal = error instanceof ProviderError && (error.kind === 'rejected' || error.kind === 'not_found')
    if (isFinal) await edits.deleteEvent({ calendarId, eventId, instance: null, notify, signal })
    throw error
  }
}

function toInput(event: RemoteEvent): Omit<EventInput, 'start' | 'end' | 'recurrence'> {
  const { summary, description, location, busy, visibility, attendees, reminders, conference } = event
  const others = attendees.filter(({ organizer }) => !organizer)
  return {
    summary,
    description,
    location,
    busy,
    visibility,
    reminders,
    conference: conference !== null,
    attendees: others.map(({ email, displayName, optional }) => ({ email, displayName, optional })),
  }
}

function zoned(time: EventTime, calendarZone: string | null): ZonedTime {
  return 'date' in time ? time : { dateTime: time.dateTime, timeZone: time.timeZone ?? calendarZone ?? 'UTC' }
}
