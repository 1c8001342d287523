import { type Component, properties, property, withoutProperties } from '../../../platform/calendar/components.ts'
import { parseContentLine } from '../../../platform/calendar/content-line.ts'
import { formatLocal, parseLocal } from '../../../platform/calendar/days.ts'
import { parameterValue, textLine } from '../../../platform/calendar/formatting.ts'
import { describeOwnZone, parseOwnZone } from '../../../platform/calendar/read-vtimezone.ts'
import { describeZone } from '../../../platform/calendar/write-vtimezone.ts'
import { type EventInput, type EventTime, ProviderError } from '../../contract/index.ts'
import { readEmail } from './people.ts'

export interface EditContext {
  /** The user, as organizer. */
  email: string
  nowMs: number
}

const RECURRENCE_NAMES = ['RRULE', 'RDATE', 'EXDATE', 'EXRULE']

/** Applies what a caller says to a VEVENT. Everything else in it stays, also what this code does not know. */
export function applyInput(event: Component, input: Partial<EventInput>, context: EditContext): void {
  const { summary, description, location, start, end, recurrence, busy, visibility, attendees, reminders } = input
  if (summary !== undefined) replace(event, ['SUMMARY'], text('SUMMARY', summary))
  if (description !== undefined) replace(event, ['DESCRIPTION', 'X-ALT-DESC'], text('DESCRIPTION', description))
  if (location !== undefined) replace(event, ['LOCATION'], text('LOCATION', location))
  if (start !== undefined) replace(event, ['DTSTART'], [timeLine('DTSTART', start)])
  if (end !== undefined) replace(event, ['DTEND', 'DURATION'], [timeLine('DTEND', end)])
  if (recurrence !== undefined) replace(event, RECURRENCE_NAMES, recurrence.map(recurrenceLine))
  if (busy !== undefined) replace(event, ['TRANSP'], [`TRANSP:${busy ? 'OPAQUE' : 'TRANSPARENT'}`])
  if (visibility !== undefined) {
    replace(event, ['CLASS'], visibility === 'default' ? [] : [`CLASS:${visibility.toUpperCase()}`])
  }
  if (attendees !== undefined) replaceAttendees(event, attendees, context)
  if (reminders !== undefined) replaceAlarms(event, reminders ?? [], context)
  touch(event, context, start !== undefined || end !== undefined || recurrence !== undefined)
}

/** Records that the event changed. Attendees are asked again when SEQUENCE grows (RFC 5546, 2.1.4). */
export function touch(event: Component, { nowMs }: EditContext, isMoved: boolean): void {
  const now = utcText(nowMs)
  replace(event, ['DTSTAMP', 'LAST-MODIFIED'], [`DTSTAMP:${now}`, `LAST-MODIFIED:${now}`])
  const sequence = Number(property(event, 'SEQUENCE')?.value ?? 0) || 0
  if (isMoved) replace(event, ['SEQUENCE'], [`SEQUENCE:${sequence + 1}`])
}

export function replace(event: Component, names: readonly string[], lines: readonly string[]): void {
  event.lines = [...withoutProperties(event, names), ...lines]
}

export function timeLine(name: string, time: EventTime): string {
  if ('date' in time) return `${name};VALUE=DATE:${time.date.replaceAll('-', '')}`
  const localMs = parseLocal(time.dateTime)
  if (localMs === undefined) throw new ProviderError('rejected', `changing an event: ${name} is not a time`)
  const local = formatLocal(localMs).replaceAll(/[-:]/g, '')
  if (time.timeZone === null) return `${name}:${local}`
  if (time.timeZone === 'UTC') return `${name}:${local}Z`
  const tzid = parseOwnZone(time.timeZone)?.tzid ?? time.timeZone
  return `${name};TZID=${parameterValue(tzid)}:${local}`
}

function utcText(ms: number): string {
  return `${formatLocal(ms).replaceAll(/[-:]/g, '')}Z`
}

/** Finding out that there is no zone of a name takes 0.1 ms. */
const MAX_ZONES = 20

/** Programs may refuse objects with zones that they do not describe (RFC 5545, 3.2.19). */
export function describeZones(calendar: Component, nearMs: number): void {
  const described = new Set(
    calendar.components.flatMap((each) => (each.name === 'VTIMEZONE' ? (property(each, 'TZID')?.value ?? []) : [])),
  )
  const used = calendar.components
    .filter(({ name }) => name === 'VEVENT')
    .flatMap((event) => event.lines.flatMap((line) => /;TZID="?([^":;]+)/i.exec(line)?.[1] ?? []))
  for (const name of [...new Set(used)].slice(0, MAX_ZONES)) {
    const zone = described.has(name) ? undefined : describeZone(name, nearMs)
    if (zone !== undefined) calendar.components.unshift(zone)
  }
}

/** Adds the zones that IANA does not have. An event that is made from another one has its zone. */
export function describeOwnZones(calendar: Component, times: readonly EventTime[]): void {
  const texts = new Set(times.flatMap((time) => ('dateTime' in time ? (time.timeZone ?? []) : [])))
  for (const text of texts) {
    const own = parseOwnZone(text)
    if (own !== undefined) calendar.components.unshift(describeOwnZone(own))
  }
}

function text(name: string, value: string): string[] {
  return value === '' ? [] : [textLine(name, value)]
}

/** A line break in a value would begin another property. */
function recurrenceLine(line: string): string {
  const parsed = parseContentLine(line)
  if (parsed === undefined || !RECURRENCE_NAMES.includes(parsed.name) || /[\u0000-\u001f\u007f]/.test(line)) {
    throw new ProviderError('rejected', 'changing an event: a recurrence line is not RRULE, RDATE or EXDATE')
  }
  return line
}

/** Attendees who stay keep their answers and what other programs know about them. */
function replaceAttendees(event: Component, attendees: EventInput['attendees'], { email }: EditContext): void {
  const linesByEmail = new Map(properties(event, 'ATTENDEE').map((line) => [readEmail(line).toLowerCase(), line]))
  const lines = attendees.map((attendee) => {
    const before = linesByEmail.get(attendee.email.toLowerCase())?.parameters ?? new Map<string, string>()
    const parameters = new Map([...before, ['ROLE', attendee.optional ? 'OPT-PARTICIPANT' : 'REQ-PARTICIPANT']])
    if (attendee.displayName !== '') parameters.set('CN', attendee.displayName)
    if (!parameters.has('PARTSTAT')) parameters.set('PARTSTAT', 'NEEDS-ACTION')
    if (parameters.get('PARTSTAT') === 'NEEDS-ACTION') parameters.set('RSVP', 'TRUE')
    return personLine('ATTENDEE', attendee.email, parameters)
  })
  replace(event, ['ATTENDEE'], lines)
  if (attendees.length > 0 && property(event, 'ORGANIZER') === undefined) {
    replace(event, ['ORGANIZER'], [personLine('ORGANIZER', email, new Map())])
  }
}

export function personLine(name: string, email: string, parameters: ReadonlyMap<string, string>): string {
  const written = [...parameters].map(([key, value]) => `;${key}=${parameterValue(value)}`)
  return `${name}${written.join('')}:mailto:${email.replaceAll(/[\u0000-\u0020\u007f]/g, '')}`
}

function replaceAlarms(event: Component, reminders: EventInput['reminders'] & object, { email }: EditContext): void {
  const others = event.components.filter(({ name }) => name !== 'VALARM')
  const alarms = reminders.map(({ method, minutes }): Component => {
    const recipient = method === 'email' ? ['SUMMARY:Reminder', personLine('ATTENDEE', email, new Map())] : []
    const action = method === 'email' ? 'EMAIL' : 'DISPLAY'
    const lines = [`ACTION:${action}`, `TRIGGER:-PT${minutes}M`, 'DESCRIPTION:Reminder', ...recipient]
    return { name: 'VALARM', lines, components: [] }
  })
  event.components = [...others, ...alarms]
}
