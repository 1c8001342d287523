import { type Account, readLive } from '../../accounts/index.ts'
import { DAY_MS, formatDay, formatLocal, parseDay } from '../../platform/calendar/days.ts'
import type { Db } from '../../platform/db/index.ts'
import { AppError, notFound } from '../../platform/errors/app-error.ts'
import { parseTime } from '../../platform/time/time.ts'
import {
  type CalendarEdits,
  type EventTarget,
  type EventTime,
  ProviderError,
  type RemoteEvent,
  zonedTime,
} from '../../providers/contract/index.ts'
import { instanceId, originalStartText, type ShownEvent, toIsoTime } from '../api.ts'
import { expandSeries } from '../instances/instances.ts'
import { MAX_MOVE_MS } from '../instances/moves.ts'
import { placedTime, toOriginalStart } from '../instances/times.ts'
import { LIVE_MS } from '../read/calendar-access.ts'
import { type CalendarRow, type EventRow, eventStore } from '../store.ts'

/** The event that an id of a request means. */
export interface Target {
  account: Account
  calendar: CalendarRow
  /** Undefined for an instance that is as its series says, and for what is not stored. */
  row: EventRow | undefined
  /** As stored, otherwise as the provider returned it. */
  event: RemoteEvent
  /** Set for an instance of a series. */
  instance: { master: RemoteEvent; masterRow: EventRow | undefined; original: string } | undefined
  /** How the provider names it. */
  remote: EventTarget
}

const INSTANCE_ID = /^(cev_[^_]+)_(\d{8}(?:T\d{6}Z)?)$/

/** Finds the event of an id, ours or the provider's: in the database, otherwise at the provider. Throws `not_found`. */
export async function findTarget(
  db: Db,
  { account, calendar }: Pick<Target, 'account' | 'calendar'>,
  id: string,
  edits: () => Promise<CalendarEdits>,
): Promise<Target> {
  const store = eventStore(db.read, calendar.id)
  const place = { account, calendar }
  const row = await store.find(id)
  if (row !== undefined) return ofRow(row)
  const [, masterId = '', original = ''] = INSTANCE_ID.exec(id) ?? []
  if (masterId !== '') return ofInstance(await store.find(masterId), original)
  if (/^cev_/.test(id)) throw notFound('event', id)
  return ofProvider()

  async function ofRow(found: EventRow): Promise<Target> {
    const event: RemoteEvent = JSON.parse(found.content)
    const masterRow =
      found.masterProviderId === null
        ? undefined
        : (await store.byProviderIds([found.masterProviderId])).get(found.masterProviderId)
    if (found.status === 'cancelled') throw notFound('event', id)
    if (masterRow === undefined || event.originalStart === null) {
      return { ...place, row: found, event, instance: undefined, remote: remoteTarget(event.eventId) }
    }
    const master: RemoteEvent = JSON.parse(masterRow.content)
    const instance = { master, masterRow, original: found.originalStart ?? '' }
    return { ...place, row: found, event, instance, remote: remoteTarget(master.eventId, event.originalStart) }
  }

  async function ofInstance(masterRow: EventRow | undefined, original: string): Promise<Target> {
    if (masterRow === undefined) throw notFound('event', id)
    const exceptions = await store.findExceptions(masterRow.providerId)
    const exception = exceptions.find(({ originalStart }) => originalStart === original)
    if (exception !== undefined) return ofRow(exception)
    const master: RemoteEvent = JSON.parse(masterRow.content)
    const event = instanceEvent(master, original, calendar.timeZone)
    if (event?.originalStart == null) throw notFound('event', id)
    const instance = { master, masterRow, original }
    return { ...place, row: undefined, event, instance, remote: remoteTarget(master.eventId, event.originalStart) }
  }

  async function ofProvider(): Promise<Target> {
    const live = await edits()
    const signal = AbortSignal.timeout(LIVE_MS)
    const get = async (eventId: string) => {
      try {
        return await live.getEvent(remoteTarget(eventId), signal)
      } catch (error) {
        if (error instanceof ProviderError && error.kind === 'not_found') return undefined
        throw error
      }
    }
    const event = await readLive('The event', () => get(id))
    if (event === undefined) throw notFound('event', id)
    const { recurringEventId, originalStart } = event
    if (recurringEventId === null || originalStart === null) {
      return { ...place, row: undefined, event, instance: undefined, remote: remoteTarget(event.eventId) }
    }
    const masterRow = (await store.byProviderIds([recurringEventId])).get(recurringEventId)
    const master: RemoteEvent | undefined =
      masterRow === undefined
        ? await readLive('The series', () => get(recurringEventId))
        : JSON.parse(masterRow.content)
    const original = originalStartText(toOriginalStart(originalStart, calendar.timeZone))
    const instance = master && { master, masterRow, original }
    return { ...place, row: undefined, event, instance, remote: remoteTarget(event.eventId) }
  }

  function remoteTarget(eventId: string, start: EventTime | null = null): EventTarget {
    return { calendarId: calendar.providerId, eventId, instance: start }
  }
}

/** The instance of a series that starts at `original`, as its master says. Undefined when there is none. */
export function instanceEvent(
  master: RemoteEvent,
  original: string,
  calendarZone: string | null,
): RemoteEvent | undefined {
  const day = parseDay(original)
  const startMs = day === undefined ? parseTime(toIsoTime(original)) : day * DAY_MS
  if (startMs === undefined || master.recurrence.length === 0) return undefined
  const { start: from, end: to, durationDays, recurrence, moves = [] } = master
  // An all-day event begins at midnight of some zone, and a moved instance somewhere else.
  const aroundMs = (day === undefined ? 1 : 2 * DAY_MS) + (moves.length === 0 ? 0 : MAX_MOVE_MS)
  const around = { from: startMs - aroundMs, to: startMs + aroundMs }
  const wanted = day === undefined ? startMs : formatDay(day)
  const series = { start: from, end: to, durationDays, recurrence, moves, exceptions: [] }
  const found = expandSeries(series, calendarZone, around).find(({ originalStart }) => originalStart === wanted)
  if (found === undefined) return undefined
  const [start, end] = [found.startMs, found.endMs].map((ms) => timeAt(master.start, ms, calendarZone))
  const originalStart = day === undefined ? timeAt(master.start, startMs, calendarZone) : { date: formatDay(day) }
  const times = { originalStart, start: start ?? master.start, end: end ?? master.end }
  return { ...master, ...times, recurringEventId: master.eventId, recurrence: [], etag: null }
}

/** In the form and the zone of the series, so that it reads as the series does. */
function timeAt(form: EventTime, ms: number, calendarZone: string | null): EventTime {
  const { zone } = placedTime(form, calendarZone)
  const localMs = zone.toLocal(ms)
  if ('date' in form) return { date: formatDay(Math.floor(localMs / DAY_MS)) }
  return form.timeZone === null ? { dateTime: formatLocal(localMs), timeZone: null } : zonedTime(ms, zone)
}

/** The target in the form of rows, for its view. `version` is that of the row, or of the series. */
export function shownEvent({ account, calendar, row, event, instance }: Target, nowMs: number): ShownEvent {
  const series = instance?.masterRow
  const about = row ?? series
  return {
    id:
      row?.id ??
      (instance === undefined || series === undefined ? event.eventId : instanceId(series.id, instance.original)),
    accountId: account.id,
    calendarId: calendar.id,
    providerId: row?.providerId ?? (instance === undefined ? event.eventId : instance.master.eventId),
    masterProviderId: event.recurringEventId,
    originalStart: row?.originalStart ?? instance?.original ?? null,
    version: about?.version ?? 1,
    createdAt: about?.createdAt ?? event.createdAt ?? nowMs,
    updatedAt: about?.updatedAt ?? event.updatedAt ?? nowMs,
    content: event,
  }
}

/** Throws `not_supported` for a calendar that the account may only read. */
export function requireWritable(calendar: CalendarRow): void {
  if (calendar.role !== 'owner' && calendar.role !== 'writer') throw mayOnlyRead(calendar)
}

function mayOnlyRead({ summary }: CalendarRow, cause?: unknown): AppError {
  const message = `The account may only read the calendar "${summary.slice(0, 200)}".`
  return new AppError('not_supported', { message, cause })
}

/**
 * As `readLive`, for a change. The scopes were checked before, so a refusal in a calendar of somebody else means that its owner has taken
 * the right to change it since the last sync.
 */
export async function changeLive<T>(what: string, calendar: CalendarRow, change: () => Promise<T>): Promise<T> {
  try {
    return await readLive(what, change)
  } catch (error) {
    const cause = error instanceof AppError ? error.cause : undefined
    const isRefused =
      cause instanceof ProviderError && cause.kind === 'rejected' && (cause.denied || cause.missingScope)
    throw isRefused && calendar.role !== 'owner' ? mayOnlyRead(calendar, cause) : error
  }
}
