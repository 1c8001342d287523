import { DateTime } from 'luxon'
import { LOCAL, localStarts, toInstant } from '../fake/recurrence.ts'

export interface CalendarEntry {
  id: string
  summary: string
  timeZone: string
  accessRole: 'freeBusyReader' | 'reader' | 'writer' | 'owner'
  description?: string
  summaryOverride?: string
  backgroundColor?: string
  foregroundColor?: string
  primary?: boolean
  selected?: boolean
  hidden?: boolean
  deleted?: boolean
  defaultReminders: { method: string; minutes: number }[]
}

export interface GoogleTime {
  date?: string
  /** With an offset, or local time of `timeZone`. */
  dateTime?: string
  timeZone?: string
}

/** The members that the fake uses; any other is stored and returned. */
export interface GoogleEvent {
  id: string
  status: string
  start: GoogleTime
  end: GoogleTime
  recurrence?: string[]
  recurringEventId?: string
  originalStartTime?: GoogleTime
  attendees?: Record<string, unknown>[]
  [member: string]: unknown
}

interface Stored {
  event: GoogleEvent
  /** The version of the last change; increases. */
  version: number
}

/** The events of one calendar, with a version for each change. */
export class CalendarStore {
  entry: CalendarEntry
  readonly #events = new Map<string, Stored>()
  version = 0
  /** Older sync tokens have expired. */
  horizon = 0

  constructor(entry: CalendarEntry) {
    this.entry = entry
  }

  all(): Stored[] {
    return [...this.#events.values()]
  }

  get(id: string): GoogleEvent | undefined {
    return this.#events.get(id)?.event
  }

  put({ recurrence, ...rest }: GoogleEvent): void {
    // Google returns no empty lists.
    const event: GoogleEvent = { ...rest, ...(recurrence !== undefined && recurrence.length > 0 && { recurrence }) }
    this.version += 1
    const updated = new Date(1_800_000_000_000 + this.version).toISOString()
    this.#events.set(event.id, {
      event: { created: this.get(event.id)?.created ?? updated, ...event, updated, etag: `"${this.version}"` },
      version: this.version,
    })
  }

  /** A cancelled master takes its exceptions with it. */
  cancel(id: string): boolean {
    const event = this.get(id) ?? this.instance(id)
    if (event === undefined || event.status === 'cancelled') return false
    this.put({ ...event, status: 'cancelled' })
    for (const { event: other } of this.all()) {
      if (other.recurringEventId === id && other.status !== 'cancelled') this.put({ ...other, status: 'cancelled' })
    }
    return true
  }

  /** An instance that is like its master: `<master>_20261120T080000Z`. */
  instance(id: string): GoogleEvent | undefined {
    const [, masterId = '', date = ''] = /^(.+)_(\d{8}(?:T\d{6}Z)?)$/.exec(id) ?? []
    const master = this.get(masterId)
    if (master === undefined || master.status === 'cancelled') return undefined
    const at = DateTime.fromISO(date, { zone: date.endsWith('Z') ? 'utc' : this.eventZone(master) }).toMillis()
    return this.#plainInstances(master, at, at + 1).find((instance) => instance.id === id)
  }

  /** The instances of a master that overlap the range, exceptions included. */
  instances(master: GoogleEvent, fromMs: number, toMs: number): GoogleEvent[] {
    const exceptions = this.all()
      .map(({ event }) => event)
      .filter(({ recurringEventId }) => recurringEventId === master.id)
    const replaced = new Set(exceptions.map(({ originalStartTime = {} }) => this.ms(originalStartTime, master)))
    const plain = this.#plainInstances(master, fromMs, toMs)
    return [
      ...plain.filter(({ start }) => !replaced.has(this.ms(start, master))),
      ...exceptions.filter((event) => event.status !== 'cancelled' && this.overlaps(event, fromMs, toMs)),
    ]
  }

  #plainInstances(master: GoogleEvent, fromMs: number, toMs: number, limit?: number): GoogleEvent[] {
    const zone = this.eventZone(master)
    const isAllDay = master.start.date !== undefined
    const first = DateTime.fromMillis(this.ms(master.start), { zone })
    const durationMs = this.ms(master.end) - first.toMillis()
    const days = isAllDay ? Math.round(durationMs / 86_400_000) : 0
    const start = first.toFormat(isAllDay ? 'yyyy-MM-dd' : LOCAL)
    // Clock changes make an instance longer or shorter.
    const earliestMs = fromMs - durationMs - 3 * 3_600_000
    const starts = localStarts({ start, zone, lines: master.recurrence ?? [] }, earliestMs, toMs, limit)
    const { recurrence: _, ...rest } = master
    return starts
      .map((local) => {
        const ms = toInstant(local, zone)
        const end = isAllDay
          ? { date: DateTime.fromISO(local).plus({ days }).toFormat('yyyy-MM-dd') }
          : { dateTime: new Date(ms + durationMs).toISOString(), timeZone: zone }
        const begin = isAllDay ? { date: local } : { dateTime: new Date(ms).toISOString(), timeZone: zone }
        const utc = new Date(ms).toISOString().replace(/[-:]|\.\d+/g, '')
        const id = `${master.id}_${isAllDay ? local.replaceAll('-', '') : utc}`
        return { ...rest, id, recurringEventId: master.id, originalStartTime: begin, start: begin, end }
      })
      .filter((instance) => this.overlaps(instance, fromMs, toMs))
  }

  /** Both bounds are exclusive. A cancelled instance is where it was. */
  overlaps(event: GoogleEvent, fromMs: number, toMs: number): boolean {
    if (event.recurrence !== undefined) return this.#plainInstances(event, fromMs, toMs, 200).length > 0
    return this.ms(event.end) > fromMs && this.ms(event.start) < toMs
  }

  eventZone(event: GoogleEvent): string {
    return event.start.timeZone ?? this.entry.timeZone
  }

  ms({ date, dateTime, timeZone }: GoogleTime, event?: GoogleEvent): number {
    const zone = timeZone ?? (event ? this.eventZone(event) : this.entry.timeZone)
    return toInstant(date ?? dateTime ?? '', date === undefined ? zone : this.entry.timeZone)
  }

  /** As Google writes it: with the offset of the calendar or of the requested zone, whatever the event's own zone is. */
  written(time: GoogleTime | undefined, zone: string): GoogleTime | undefined {
    if (time?.dateTime === undefined) return time
    const at = DateTime.fromMillis(this.ms(time), { zone })
    return {
      ...time,
      dateTime: at.toISO({ suppressMilliseconds: true }) ?? '',
      timeZone: time.timeZone ?? this.entry.timeZone,
    }
  }
}

/** Google guarantees only the ids of a cancelled event, and the original start of a cancelled instance. */
export function resource(store: CalendarStore, event: GoogleEvent, query: URLSearchParams): object {
  const zone = query.get('timeZone') ?? store.entry.timeZone
  const { kind, etag, id, status, recurringEventId, originalStartTime, start, end, attendees } = event
  const original = originalStartTime && { originalStartTime: store.written(originalStartTime, zone) }
  if (status === 'cancelled') return { kind, etag, id, status, ...(original && { recurringEventId, ...original }) }
  const times = { start: store.written(start, zone), end: store.written(end, zone), ...original }
  if (store.entry.accessRole === 'freeBusyReader') return { kind, etag, id, status, visibility: 'private', ...times }
  const limit = Number(query.get('maxAttendees') ?? Number.POSITIVE_INFINITY)
  const isLong = attendees !== undefined && attendees.length > limit
  const shown = isLong && { attendees: attendees.filter(({ self }) => self === true), attendeesOmitted: true }
  return { ...event, ...times, ...shown }
}
