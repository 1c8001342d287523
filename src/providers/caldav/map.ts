import { type Component, parseObject, properties, property, textOf } from '../../lib/calendar/components.ts'
import type { ContentLine } from '../../lib/calendar/content-line.ts'
import { DAY_MS, formatDay, formatLocal, parseDay, parseLocal } from '../../lib/calendar/days.ts'
import { parseDuration } from '../../lib/calendar/duration.ts'
import { isOwnZone } from '../../lib/calendar/own-zone.ts'
import { storedZone, toInstant, type Zone } from '../../lib/calendar/zone.ts'
import { TURN_MS, yieldIfHeld } from '../../lib/event-loop.ts'
import { sha256 } from '../../lib/sha256.ts'
import { boundedEvent, type EventTime, type RemoteEvent, type SeriesMove } from '../contract/index.ts'
import { peopleOf } from './people.ts'
import type { ObjectZones } from './zones.ts'

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

/** An event and its VEVENT. */
export interface MappedComponent {
  event: RemoteEvent
  component: Component
}

const MAX_EVENTS = 2000
const MAX_DATE_LINES = 2000
const MAX_MOVES = 20

/** The master or single event of an object, and its exceptions. Empty for what is not an event, or cannot be read. */
export async function eventsOf(object: CalendarObject, context: MapContext): Promise<RemoteEvent[]> {
  const calendar = parseObject(object.text, { attachments: 'skip' })
  if (calendar === undefined) return []
  return (await mappedIn(calendar, object, context)).map(({ event }) => event)
}

/** The same with the components, for changing them. Undefined where there is no event. */
export async function readObject(
  object: CalendarObject,
  context: MapContext,
): Promise<{ calendar: Component; mapped: MappedComponent[] } | undefined> {
  const calendar = parseObject(object.text)
  if (calendar === undefined) return undefined
  const mapped = await mappedIn(calendar, object, context)
  return mapped.length === 0 ? undefined : { calendar, mapped }
}

/** Masters before their exceptions. */
async function mappedIn(calendar: Component, object: CalendarObject, context: MapContext): Promise<MappedComponent[]> {
  const byUid = new Map<string, Component[]>()
  for (const component of calendar.components.filter(({ name }) => name === 'VEVENT').slice(0, MAX_EVENTS)) {
    const uid = textOf(component, 'UID')
    const known = byUid.get(uid)
    if (known === undefined) byUid.set(uid, [component])
    else known.push(component)
  }
  const mapped: MappedComponent[] = []
  for (const [uid, components] of byUid) {
    // RFC 4791 allows one UID in an object, but old servers keep several.
    const eventId = mapped.length === 0 ? object.path : `${object.path}#uid-${sha256(uid, 'hex').slice(0, 16)}`
    mapped.push(...(await mappedSeries(components, new ObjectMapper(object, calendar, context, eventId))))
  }
  const [first, ...others] = mapped.filter(({ event }) => event.originalStart === null)
  if (first !== undefined && others.length > 0) first.event.siblings = others.map(({ event }) => event.eventId)
  return mapped
}

/** The components of one UID. Of two that say something about the same instance, that with the higher SEQUENCE counts. */
async function mappedSeries(components: readonly Component[], mapper: ObjectMapper): Promise<MappedComponent[]> {
  const isException = (component: Component) => property(component, 'RECURRENCE-ID') !== undefined
  const inOrder = [...components].sort((left, right) => Number(isException(left)) - Number(isException(right)))
  const mapped = new Map<string, MappedComponent>()
  const moves: SeriesMove[] = []
  for (const component of inOrder) {
    const original = property(component, 'RECURRENCE-ID')
    const master = mapped.get(mapper.eventId)?.event
    const event = mapper.event(component, original, master?.start)
    await yieldIfHeld(TURN_MS)
    if (event === undefined) continue
    const known = mapped.get(event.eventId)
    if (known !== undefined && sequenceOf(known.component) >= sequenceOf(component)) continue
    mapped.set(event.eventId, { event, component })
  }
  for (const { event, component } of mapped.values()) {
    const { originalStart, status, start, end, busy, attendees } = event
    const range = property(component, 'RECURRENCE-ID')?.parameters.get('RANGE')?.toUpperCase()
    if (originalStart === null || range !== 'THISANDFUTURE') continue
    const isDeclined = attendees.some(({ self, responseStatus }) => self && responseStatus === 'declined')
    moves.push({ originalStart, times: status === 'cancelled' ? null : { start, end }, busy: busy && !isDeclined })
  }
  const master = mapped.get(mapper.eventId)?.event
  if (master !== undefined && moves.length > 0) master.moves = moves.slice(0, MAX_MOVES)
  return [...mapped.values()]
}

function sequenceOf(component: Component): number {
  return Number(property(component, 'SEQUENCE')?.value ?? 0) || 0
}

class ObjectMapper {
  /** Of the master or the single event. */
  readonly eventId: string
  readonly #object: CalendarObject
  readonly #calendar: Component
  readonly #context: MapContext

  constructor(object: CalendarObject, calendar: Component, context: MapContext, eventId: string) {
    this.#object = object
    this.#calendar = calendar
    this.#context = context
    this.eventId = eventId
  }

  /** Undefined where the event has no start. `masterStart`: of the series, in whose zone an original start without one is. */
  event(
    event: Component,
    original: ContentLine | undefined,
    masterStart: EventTime | undefined,
  ): RemoteEvent | undefined {
    const start = this.#time(property(event, 'DTSTART'))
    const originalStart = original === undefined ? null : inZoneOf(masterStart, this.#time(original))
    if (start === undefined || originalStart === undefined) return undefined
    const { organizer, attendees } = peopleOf(event, this.#context.addresses)
    return boundedEvent({
      eventId: originalStart === null ? this.eventId : `${this.eventId}#${idOf(originalStart)}`,
      iCalUid: textOf(event, 'UID'),
      etag: this.#object.etag,
      status: statusOf(event),
      summary: textOf(event, 'SUMMARY'),
      description: textOf(event, 'DESCRIPTION'),
      location: textOf(event, 'LOCATION'),
      start,
      end: this.#end(event, start),
      ...durationDays(event, start),
      recurrence: originalStart === null ? this.#recurrence(event) : [],
      recurringEventId: originalStart === null ? null : this.eventId,
      originalStart,
      busy: isBusy(event),
      visibility: visibilityOf(event),
      organizer,
      attendees,
      conference: conferenceOf(event),
      reminders: remindersOf(event),
      htmlLink: null,
      createdAt: instantOf(property(event, 'CREATED')),
      updatedAt: instantOf(property(event, 'LAST-MODIFIED') ?? property(event, 'DTSTAMP')),
    })
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
    return { dateTime: formatLocal(localMs), timeZone: this.#context.zones.resolve(tzid, this.#calendar, localMs) }
  }

  /** Never before the start. Days of a DURATION are days of the wall clock, hours are exact (RFC 5545, 3.3.6). */
  #end(event: Component, start: EventTime): EventTime {
    const duration = property(event, 'DURATION')?.value
    const end = this.#time(property(event, 'DTEND'))
    if ('date' in start) {
      const startDay = parseDay(start.date) ?? 0
      const lasts = Math.floor((parseDuration(duration ?? '') ?? DAY_MS) / DAY_MS)
      const endDay =
        end === undefined ? startDay + lasts : parseDay('date' in end ? end.date : end.dateTime.slice(0, 10))
      return { date: formatDay(Math.max(startDay + 1, endDay ?? 0)) }
    }
    const zone = start.timeZone === null ? undefined : storedZone(start.timeZone)
    const localMs = parseLocal(start.dateTime) ?? 0
    if (end !== undefined && 'dateTime' in end) {
      const isBefore = end.timeZone === start.timeZone && end.dateTime < start.dateTime
      return isBefore ? start : end
    }
    if (end !== undefined) return { dateTime: `${end.date}T00:00:00`, timeZone: start.timeZone }
    const lastsMs = Math.max(0, parseDuration(duration ?? '') ?? 0)
    const days = daysOf(duration ?? '') * DAY_MS
    const from = localMs + days
    if (zone !== undefined) return timeAfter(zone, from, lastsMs - days)
    return { dateTime: formatLocal(from + lastsMs - days), timeZone: start.timeZone }
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
    return [...rules, ...[...dates].map(([head, values]) => `${head}:${values.join(',')}`)]
  }

  /** In UTC where the zone has no name. */
  #zonedDates(tzid: string | undefined, values: string): { zoneParameter: string; values: string } {
    if (tzid === undefined) return { zoneParameter: '', values }
    const nearMs = parseLocal(values.slice(0, '20261120T080000'.length)) ?? 0
    const name = this.#context.zones.resolve(tzid, this.#calendar, nearMs)
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

/** The days of a DURATION. One in hours has none. */
function daysOf(duration: string): number {
  return /\d[DW]/i.test(duration) ? Math.floor(Math.max(0, parseDuration(duration) ?? 0) / DAY_MS) : 0
}

/** RFC 5545, 3.8.5.3: instances last as long as DURATION says nominally, and exactly as long as DTEND says. */
function durationDays(event: Component, start: EventTime): { durationDays?: number } {
  if ('date' in start || (property(event, 'RRULE') === undefined && property(event, 'RDATE') === undefined)) return {}
  const days = property(event, 'DTEND') === undefined ? daysOf(property(event, 'DURATION')?.value ?? '') : 0
  return days === 0 ? {} : { durationDays: days }
}

/** In UTC where the wall clock would mean another time, because it is the second of two. */
function timeAfter(zone: Zone, localMs: number, lastsMs: number): EventTime {
  const endMs = toInstant(zone, localMs) + lastsMs
  const endLocal = endMs + zone.readOffset(endMs)
  const isFirst = toInstant(zone, endLocal) === endMs
  return isFirst
    ? { dateTime: formatLocal(endLocal), timeZone: zone.name }
    : { dateTime: formatLocal(endMs), timeZone: 'UTC' }
}

/** Rewrites a wall clock of the zone. */
function inUtc(zone: Zone): (text: string) => string {
  return (text) => {
    const localMs = parseLocal(text)
    return localMs === undefined ? text : `${formatLocal(zone.toUtc(localMs)).replaceAll(/[-:]/g, '')}Z`
  }
}

/** The path of the object that contains an event. */
export function objectPath(eventId: string): string {
  return eventId.split('#', 1)[0] ?? ''
}

/** `20261120T080000Z`, `20261120`, or for a floating time `20261120T090000`. */
export function idOf(time: EventTime): string {
  if ('date' in time) return time.date.replaceAll('-', '')
  const zone = time.timeZone === null ? undefined : storedZone(time.timeZone)
  const localMs = parseLocal(time.dateTime) ?? 0
  const text = formatLocal(zone === undefined ? localMs : toInstant(zone, localMs)).replaceAll(/[-:]/g, '')
  return zone === undefined ? text : `${text}Z`
}

/** A floating RECURRENCE-ID is in the zone of its series. */
function inZoneOf(series: EventTime | undefined, time: EventTime | undefined): EventTime | undefined {
  const isFloating = time !== undefined && 'dateTime' in time && time.timeZone === null
  return isFloating && series !== undefined && 'dateTime' in series ? { ...time, timeZone: series.timeZone } : time
}

/** Outlook writes what a person chose into a property of its own, sometimes without TRANSP. */
function isBusy(event: Component): boolean {
  const transparency = textOf(event, 'TRANSP').trim().toUpperCase()
  if (transparency !== '') return transparency !== 'TRANSPARENT'
  return textOf(event, 'X-MICROSOFT-CDO-BUSYSTATUS').trim().toUpperCase() !== 'FREE'
}

function statusOf(event: Component): RemoteEvent['status'] {
  const status = textOf(event, 'STATUS').trim().toUpperCase()
  return status === 'CANCELLED' ? 'cancelled' : status === 'TENTATIVE' ? 'tentative' : 'confirmed'
}

function visibilityOf(event: Component): RemoteEvent['visibility'] {
  const visibility = textOf(event, 'CLASS').trim().toLowerCase()
  return visibility === 'public' || visibility === 'private' || visibility === 'confidential' ? visibility : 'default'
}

const CONFERENCES = [
  ['X-GOOGLE-CONFERENCE', 'hangoutsMeet'],
  ['X-MICROSOFT-SKYPETEAMSMEETINGURL', 'teamsForBusiness'],
  ['CONFERENCE', 'conference'],
] as const

function conferenceOf(event: Component): RemoteEvent['conference'] {
  for (const [name, type] of CONFERENCES) {
    const url = property(event, name)?.value.trim() ?? ''
    if (/^https?:/i.test(url)) return { type, url }
  }
  return null
}

/** Alarms before the start; others have no counterpart. */
function remindersOf(event: Component): RemoteEvent['reminders'] {
  return event.components.slice(0, 20).flatMap((alarm): RemoteEvent['reminders'] => {
    const trigger = alarm.name === 'VALARM' ? property(alarm, 'TRIGGER') : undefined
    const ms =
      trigger?.parameters.get('RELATED')?.toUpperCase() === 'END' ? undefined : parseDuration(trigger?.value ?? '')
    if (ms === undefined || ms > 0) return []
    const method = textOf(alarm, 'ACTION').toUpperCase() === 'EMAIL' ? 'email' : 'popup'
    return [{ method, minutes: Math.round(-ms / 60_000) + 0 }]
  })
}

function instantOf(line: ContentLine | undefined): number | null {
  return parseLocal(line?.value.trim().replace(/z$/i, '') ?? '') ?? null
}
