import { DateTime } from 'luxon'
import { toInstant } from '../fake/recurrence.ts'
import { expandDates, type PatternedRecurrence } from './pattern.ts'
import type { Resource } from './resources.ts'

export interface GraphTime {
  dateTime: string
  /** IANA, unlike `originalStartTimeZone` and `recurrenceTimeZone`. */
  timeZone: string
}

/** The members that the fake uses; any other is stored and returned. */
export interface GraphEvent {
  id: string
  start: GraphTime
  end: GraphTime
  isAllDay?: boolean
  recurrence?: PatternedRecurrence
  [member: string]: unknown
}

interface Stored {
  event: GraphEvent
  calendarId: string
  /** Only in masters: the exceptions and cancelled instances, by date. */
  exceptions: Map<string, GraphEvent>
  cancelled: Set<string>
}

export interface GraphCalendar {
  id: string
  name: string
  color: string
  hexColor: string
  canEdit: boolean
  owner: { name: string; address: string }
  isDefaultCalendar: boolean
  allowedOnlineMeetingProviders: string[]
  defaultOnlineMeetingProvider: string
}

export type EventChange = 'created' | 'updated' | 'deleted'

/** The calendars of one mailbox, with a number for each change. */
export class CalendarStore {
  readonly #onChange: (id: string, change: EventChange) => void
  readonly calendars = new Map<string, GraphCalendar>()
  readonly #events = new Map<string, Stored>()
  /** By calendar: the number of the last change of each event. */
  readonly #changes = new Map<string, Map<string, number>>()
  seq = 0

  constructor(onChange: (id: string, change: EventChange) => void) {
    this.#onChange = onChange
  }

  #note(calendarId: string, id: string, change: EventChange): void {
    this.#onChange(id, change)
    this.seq += 1
    const changes = this.#changes.get(calendarId) ?? new Map<string, number>()
    this.#changes.set(calendarId, changes)
    changes.set(id, this.seq)
  }

  changedSince(calendarId: string, seq: number): string[] {
    return [...(this.#changes.get(calendarId) ?? [])]
      .filter(([, number]) => number > seq)
      .sort(([, left], [, right]) => left - right)
      .map(([id]) => id)
  }

  find(id: string): Stored | undefined {
    return this.#events.get(id)
  }

  in(calendarId: string): Stored[] {
    return [...this.#events.values()].filter((stored) => stored.calendarId === calendarId)
  }

  put(calendarId: string, event: GraphEvent): void {
    const { exceptions, cancelled } = this.#events.get(event.id) ?? { exceptions: new Map(), cancelled: new Set() }
    this.#note(calendarId, event.id, this.#events.has(event.id) ? 'updated' : 'created')
    const version = { changeKey: `key${this.seq}`, '@odata.etag': `W/"key${this.seq}"` }
    this.#events.set(event.id, { event: { ...event, ...version }, calendarId, exceptions, cancelled })
  }

  /** Changes the master too, because Exchange stores exceptions within it. */
  change(id: string, act: (stored: Stored) => void): void {
    const stored = this.#events.get(id)
    if (stored === undefined) throw new Error(`no event ${id}`)
    act(stored)
    this.put(stored.calendarId, stored.event)
  }

  delete(id: string): void {
    const stored = this.#events.get(id)
    if (stored === undefined) throw new Error(`no event ${id}`)
    this.#events.delete(id)
    this.#note(stored.calendarId, id, 'deleted')
  }

  move(id: string, calendarId: string): void {
    const stored = this.#events.get(id)
    if (stored === undefined) throw new Error(`no event ${id}`)
    this.#note(stored.calendarId, id, 'deleted')
    this.#events.set(id, { ...stored, calendarId })
    this.#note(calendarId, id, 'created')
  }
}

/** The occurrences and exceptions of a master, or the single event itself, that overlap the range. */
export function expandEvent({ event, exceptions, cancelled }: Stored, fromMs: number, toMs: number): Resource[] {
  if (event.recurrence === undefined) return overlaps(event, fromMs, toMs) ? [{ type: 'singleInstance', ...event }] : []
  const zone = event.start.timeZone
  const start = DateTime.fromISO(event.start.dateTime, { zone })
  const lengthMs = +DateTime.fromISO(event.end.dateTime, { zone: event.end.timeZone }) - +start
  const formatDate = (ms: number, days: number) =>
    DateTime.fromMillis(ms, { zone }).plus({ days }).toFormat('yyyy-MM-dd')
  const earliest = formatDate(fromMs - lengthMs, -1)
  const { recurrence: _, ...rest } = event
  const plain = expandDates(event.recurrence, formatDate(toMs, 1))
    .filter((date) => date >= earliest && !cancelled.has(date) && !exceptions.has(date))
    .map((date) => {
      const at = DateTime.fromMillis(toInstant(`${date}T${start.toFormat('HH:mm:ss')}`, zone), { zone })
      const end = event.isAllDay ? at.plus({ days: Math.round(lengthMs / 86_400_000) }) : at.plus(lengthMs)
      const time = (value: DateTime) => ({ dateTime: value.toFormat("yyyy-MM-dd'T'HH:mm:ss"), timeZone: zone })
      return {
        ...rest,
        id: `${event.id}.${date}`,
        type: 'occurrence',
        seriesMasterId: event.id,
        start: time(at),
        end: time(end),
        originalStart: utcText(at.toMillis()),
        iCalUId: `${event.iCalUId}${date}`,
      }
    })
  return [...plain, ...exceptions.values()].filter((instance) => overlaps(instance as GraphEvent, fromMs, toMs))
}

export function graphTimeMs({ dateTime, timeZone }: GraphTime): number {
  return toInstant(dateTime, timeZone)
}

function overlaps({ start, end, isAllDay }: GraphEvent, fromMs: number, toMs: number): boolean {
  const zone = (time: GraphTime) => (isAllDay === true ? { ...time, timeZone: 'utc' } : time)
  return graphTimeMs(zone(end)) > fromMs && graphTimeMs(zone(start)) < toMs
}

function utcText(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z')
}
