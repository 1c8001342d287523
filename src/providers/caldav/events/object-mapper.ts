import { dayInBrokenTime } from '../../../platform/calendar/broken-time.ts'
import { type Component, properties, property, readText } from '../../../platform/calendar/components.ts'
import type { ContentLine } from '../../../platform/calendar/content-line.ts'
import { formatDay, formatLocal, parseDay, parseLocal } from '../../../platform/calendar/days.ts'
import { isOwnZone } from '../../../platform/calendar/read-vtimezone.ts'
import { describeUnreadableRecurrence, quoted } from '../../../platform/calendar/unreadable-recurrence.ts'
import { storedZone, toInstant, type Zone } from '../../../platform/calendar/zone.ts'
import { sha256 } from '../../../platform/crypto/sha256.ts'
import { assumedEnd, boundedEvent, type EventTime, type RemoteEvent } from '../../contract/index.ts'
import { durationDays, endLike, findEnd } from './event-end.ts'
import { isBusy, mapConference, mapReminders, mapStatus, mapVisibility, parseInstant } from './event-fields.ts'
import type { Notes } from './notes.ts'
import { mapPeople } from './people.ts'
import type { ObjectZones } from './zones.ts'

const MAX_DATE_LINES = 2000

/** A calendar object as the server returned it. */
export interface CalendarObject {
  path: string
  etag: string | null
  text: string
}

export interface MapContext {
  zones: ObjectZones
  /** Addresses of the user, in lower case. */
  addresses: ReadonlySet<string>
}

interface MappedUid {
  object: CalendarObject
  calendar: Component
  context: MapContext
  /** The id of the master or the single event. */
  eventId: string
  notes: Notes
}

/** Maps the components of one UID in an object. */
export class ObjectMapper {
  readonly eventId: string
  readonly #object: CalendarObject
  readonly #calendar: Component
  readonly #context: MapContext
  readonly #notes: Notes

  constructor({ object, calendar, context, eventId, notes }: MappedUid) {
    this.#object = object
    this.#calendar = calendar
    this.#context = context
    this.#notes = notes
    this.eventId = eventId
  }

  /** Undefined where nothing says when the event takes place. An original start without a zone is in that of the series. */
  event(event: Component, original: ContentLine | undefined, master: RemoteEvent | undefined): RemoteEvent | undefined {
    const named = original === undefined ? undefined : toSeriesZone(master?.start, this.#time(original))
    if (original !== undefined && named === undefined) {
      this.#notes.add(
        `${quoted('RECURRENCE-ID', original.value)} is no time: the instance takes place beside its series.`,
      )
    }
    const start = this.#start(property(event, 'DTSTART')) ?? named
    if (start === undefined) return undefined
    // Without an original start it replaces nothing. Its series, if there is one, has the id.
    const beside = master === undefined ? '' : `#unread-${sha256(original?.value ?? '', 'hex').slice(0, 16)}`
    const originalStart = named ?? null
    const ownId = original === undefined ? this.eventId : `${this.eventId}${beside}`
    const { organizer, attendees } = mapPeople(event, this.#context.addresses)
    return boundedEvent({
      eventId: originalStart === null ? ownId : `${this.eventId}#${formatInstanceId(originalStart)}`,
      iCalUid: readText(event, 'UID'),
      etag: this.#object.etag,
      status: mapStatus(event),
      summary: readText(event, 'SUMMARY'),
      description: readText(event, 'DESCRIPTION'),
      location: readText(event, 'LOCATION'),
      start,
      end: (hasTimes(event) ? undefined : endLike(master, start)) ?? this.#end(event, start),
      ...durationDays(event, start),
      recurrence: original === undefined ? this.#recurrence(event) : [],
      recurringEventId: originalStart === null ? null : this.eventId,
      originalStart,
      busy: isBusy(event),
      visibility: mapVisibility(event),
      organizer,
      attendees,
      conference: mapConference(event),
      reminders: mapReminders(event),
      htmlLink: null,
      createdAt: parseInstant(property(event, 'CREATED')),
      updatedAt: parseInstant(property(event, 'LAST-MODIFIED') ?? property(event, 'DTSTAMP')),
    })
  }

  /** Reads a text that is no time as the whole day, if it names one. */
  #start(line: ContentLine | undefined): EventTime | undefined {
    const time = this.#time(line)
    if (time !== undefined) return time
    if (line === undefined) {
      this.#notes.add('DTSTART is missing.')
      return undefined
    }
    const date = dayInBrokenTime(zonedValue(line).value)
    this.#notes.add(`${quoted('DTSTART', line.value)} is no time${date === undefined ? '' : ': the whole day counts'}.`)
    return date === undefined ? undefined : { date }
  }

  /** Undefined for what is not a time. */
  #time(line: ContentLine | undefined): EventTime | undefined {
    const { value, tzid } = zonedValue(line)
    const day = parseDay(value)
    if (day !== undefined) return { date: formatDay(day) }
    const isUtc = /z$/i.test(value)
    const localMs = parseLocal(isUtc ? value.slice(0, -1) : value)
    if (line === undefined || localMs === undefined) return undefined
    if (isUtc || tzid === undefined) return { dateTime: formatLocal(localMs), timeZone: isUtc ? 'UTC' : null }
    return { dateTime: formatLocal(localMs), timeZone: this.#zone(tzid, localMs) }
  }

  #zone(tzid: string, nearMs: number): string | null {
    const zone = this.#context.zones.resolve(tzid, this.#calendar, nearMs)
    if (zone === null) this.#notes.add(`${quoted('TZID', tzid)} is no known zone: the calendar's zone counts.`)
    return zone
  }

  /** Never before the start. */
  #end(event: Component, start: EventTime): EventTime {
    const line = property(event, 'DTEND')
    const end = findEnd(event, start, this.#time(line))
    if (end !== undefined) return end
    const { name, value } = line ?? property(event, 'DURATION') ?? { name: 'DTEND', value: '' }
    this.#notes.add(`${quoted(name, value)} is no end: a day or an hour counts.`)
    return assumedEnd(start)
  }

  /** With IANA zones, and one line for all dates of the same form. */
  #recurrence(event: Component): string[] {
    const rules = ['RRULE', 'EXRULE'].flatMap((name) =>
      properties(event, name, 20).map(({ value }) => `${name}:${value}`),
    )
    const dates = new Map<string, string[]>()
    for (const name of ['RDATE', 'EXDATE']) {
      for (const { value, parameters } of properties(event, name, MAX_DATE_LINES)) {
        const form = parameters.get('VALUE')?.toUpperCase()
        const valueParameter = form === 'DATE' || form === 'PERIOD' ? `;VALUE=${form}` : ''
        const { zoneParameter, values } = this.#zonedDates(parameters.get('TZID'), value.trim())
        const head = `${name}${valueParameter}${zoneParameter}`
        const list = dates.get(head) ?? []
        list.push(values)
        dates.set(head, list)
      }
    }
    const lines = [...rules, ...[...dates].map(([head, values]) => `${head}:${values.join(',')}`)]
    for (const sentence of describeUnreadableRecurrence(lines)) this.#notes.add(sentence)
    return lines
  }

  /** In UTC where the zone has no name. */
  #zonedDates(tzid: string | undefined, values: string): { zoneParameter: string; values: string } {
    if (tzid === undefined) return { zoneParameter: '', values }
    const nearMs = parseLocal(values.slice(0, '20261120T080000'.length)) ?? 0
    const name = this.#zone(tzid, nearMs)
    const own = name === null || !isOwnZone(name) ? undefined : storedZone(name)
    if (own !== undefined) return { zoneParameter: '', values: values.replaceAll(/\d{8}T\d{6}(?!Z)/g, inUtc(own)) }
    return { zoneParameter: name === null ? '' : `;TZID=${name}`, values }
  }
}

/** Programs forget the quotes of a zone with a colon: `DTSTART;TZID=UTC+05:30:20270601T090000`. */
function zonedValue(line: ContentLine | undefined): { value: string; tzid: string | undefined } {
  const tzid = line?.parameters.get('TZID')
  const value = line?.value.trim() ?? ''
  const colon = value.lastIndexOf(':')
  if (tzid === undefined || colon === -1) return { value, tzid }
  return { value: value.slice(colon + 1), tzid: `${tzid}:${value.slice(0, colon)}` }
}

function hasTimes(event: Component): boolean {
  return ['DTSTART', 'DTEND', 'DURATION'].some((name) => property(event, name) !== undefined)
}

/** Rewrites a wall clock of the zone. */
function inUtc(zone: Zone): (text: string) => string {
  return (text) => {
    const localMs = parseLocal(text)
    return localMs === undefined ? text : `${formatLocal(zone.toUtc(localMs)).replaceAll(/[-:]/g, '')}Z`
  }
}

/** `20261120T080000Z`, `20261120`, or for a floating time `20261120T090000`. */
export function formatInstanceId(time: EventTime): string {
  if ('date' in time) return time.date.replaceAll('-', '')
  const zone = time.timeZone === null ? undefined : storedZone(time.timeZone)
  const localMs = parseLocal(time.dateTime) ?? 0
  const text = formatLocal(zone === undefined ? localMs : toInstant(zone, localMs)).replaceAll(/[-:]/g, '')
  return zone === undefined ? text : `${text}Z`
}

/** A floating RECURRENCE-ID is in the zone of its series. */
function toSeriesZone(series: EventTime | undefined, time: EventTime | undefined): EventTime | undefined {
  const isFloating = time !== undefined && 'dateTime' in time && time.timeZone === null
  return isFloating && series !== undefined && 'dateTime' in series ? { ...time, timeZone: series.timeZone } : time
}
