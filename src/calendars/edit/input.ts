import { parseDay } from '../../platform/calendar/days.ts'
import { findZone } from '../../platform/calendar/zone.ts'
import { ianaZone } from '../../platform/calendar/zone-names.ts'
import type { ErrorDetail } from '../../platform/errors/app-error.ts'
import { parseTime, TIME_PROBLEM } from '../../platform/time/time.ts'
import { type EventInput, type EventTime, type ZonedTime, zonedTime } from '../../providers/contract/index.ts'
import { checkAddress } from '../../providers/shared/mime/index.ts'
import { placedTime } from '../instances/times.ts'
import type { EventBody, TimeBody } from './api.ts'
import { checkRecurrence } from './recurrence-input.ts'

/** The event before the changes. Null for a new one. */
export interface CurrentEvent {
  start: EventTime
  end: EventTime
  recurrence: readonly string[]
}

const FIRST_YEAR = 1900
const LAST_YEAR = 2100
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/
/** Tabs and line breaks are allowed. */
const CONTROL_IN_TEXT = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/

/** The given members of a request. Adds one error per invalid member; the result is then not to be used. */
export function parseEventInput(
  body: EventBody,
  current: CurrentEvent | null,
  calendarZone: string | null,
  errors: ErrorDetail[],
): Partial<EventInput> {
  const { summary, description, location, start, end, recurrence, attendees, reminders } = body
  const time = (name: 'start' | 'end', body: TimeBody | undefined) =>
    body && parseEventTime(`body.${name}`, body, calendarZone, errors)
  const times = { start: time('start', start), end: time('end', end) }
  const lines = recurrence === undefined ? undefined : (recurrence ?? [])
  if (start === undefined || times.start !== undefined) checkTimes(times, current, calendarZone, errors)
  const first = times.start ?? current?.start
  const repeats = (lines ?? current?.recurrence ?? []).length > 0
  if (repeats && start !== undefined && isSecondOfTwo(start, times.start, calendarZone)) {
    const message = 'is the second of two equal local times, at which a series cannot repeat'
    errors.push({ path: 'body.start.dateTime', message })
  }
  if (lines !== undefined && first !== undefined) checkRecurrence(lines, first, calendarZone, errors)
  return {
    ...(summary !== undefined && { summary: oneLine('body.summary', summary, errors) }),
    ...(description !== undefined && { description: parseText('body.description', description ?? '', errors) }),
    ...(location !== undefined && { location: oneLine('body.location', location ?? '', errors) }),
    ...(times.start !== undefined && { start: times.start }),
    ...(times.end !== undefined && { end: times.end }),
    ...(lines !== undefined && { recurrence: lines }),
    ...(attendees !== undefined && { attendees: parseAttendees(attendees ?? [], errors) }),
    ...(reminders !== undefined && { reminders }),
    ...(body.busy !== undefined && { busy: body.busy }),
    ...(body.visibility !== undefined && { visibility: body.visibility }),
    ...(body.conference !== undefined && { conference: body.conference }),
  }
}

function parseEventTime(
  path: string,
  { date, dateTime, timeZone }: TimeBody,
  calendarZone: string | null,
  errors: ErrorDetail[],
): ZonedTime | undefined {
  const fail = (at: string, message: string): undefined => {
    errors.push({ path: at, message })
  }
  if ((date === undefined) === (dateTime === undefined)) {
    return fail(path, 'must have either dateTime or, for an all-day event, date')
  }
  if (date !== undefined) {
    const isDay = /^\d{4}-\d\d-\d\d$/.test(date) && parseDay(date) !== undefined
    return isDay && isUsualYear(date) ? { date } : fail(`${path}.date`, `must be a date such as 2026-01-31${YEARS}`)
  }
  const text = dateTime ?? ''
  const ms = parseTime(text)
  const zone = findZone(ianaZone(timeZone ?? calendarZone ?? 'UTC') ?? '')
  if (timeZone && findZone(timeZone) === undefined) {
    fail(`${path}.timeZone`, 'must be the IANA name of a time zone, such as Europe/Berlin')
  }
  if (ms === undefined || !isUsualYear(text)) return fail(`${path}.dateTime`, `${TIME_PROBLEM}${YEARS}`)
  if (ms % 1000 !== 0) return fail(`${path}.dateTime`, 'must be in whole seconds')
  const found = zone && zonedTime(ms, zone)
  return found && 'dateTime' in found ? { dateTime: found.dateTime, timeZone: found.timeZone ?? 'UTC' } : undefined
}

/** Clocks are set back: only UTC can say this time. */
function isSecondOfTwo({ timeZone }: TimeBody, parsed: ZonedTime | undefined, calendarZone: string | null): boolean {
  if (parsed === undefined || 'date' in parsed) return false
  return parsed.timeZone !== ianaZone(timeZone ?? calendarZone ?? 'UTC')
}

const YEARS = `, between ${FIRST_YEAR} and ${LAST_YEAR}`

function isUsualYear(text: string): boolean {
  const year = Number(text.slice(0, 4))
  return year >= FIRST_YEAR && year <= LAST_YEAR
}

/** Checks the times that the event will have. */
function checkTimes(
  times: { start: ZonedTime | undefined; end: ZonedTime | undefined },
  current: CurrentEvent | null,
  calendarZone: string | null,
  errors: ErrorDetail[],
): void {
  const start = times.start ?? current?.start
  const end = times.end ?? current?.end
  if (start === undefined || end === undefined || (times.start ?? times.end) === undefined) return
  const wrong = times.end === undefined ? 'start' : 'end'
  const other = wrong === 'end' ? 'start' : 'end'
  if ('date' in start !== 'date' in end) {
    const both = 'Send start and end, both with date or both with dateTime'
    errors.push({ path: `body.${wrong}`, message: `must have the same form as ${other}. ${both}` })
    return
  }
  const [from, to] = [start, end].map((time) => placedTime(time, calendarZone))
  if (from !== undefined && to !== undefined && from.zone.toUtc(from.localMs) < to.zone.toUtc(to.localMs)) return
  const inclusive = 'date' in end ? ': an all-day event of one day ends on the next day' : ''
  errors.push({
    path: `body.${wrong}`,
    message: wrong === 'end' ? `must be later than start${inclusive}` : 'must be earlier than end. Send end too',
  })
}

function oneLine(path: string, text: string, errors: ErrorDetail[]): string {
  if (!text.isWellFormed() || CONTROL.test(text))
    errors.push({ path, message: 'must be one line without control characters' })
  return text.replaceAll(/\s+/g, ' ').trim()
}

/** Text of several lines. */
export function parseText(path: string, value: string, errors: ErrorDetail[]): string {
  const text = value.replaceAll('\r\n', '\n')
  if (!text.isWellFormed() || CONTROL_IN_TEXT.test(text) || text.includes('\r')) {
    errors.push({ path, message: 'must not contain control characters' })
  }
  return text
}

function parseAttendees(
  attendees: NonNullable<EventBody['attendees']>,
  errors: ErrorDetail[],
): EventInput['attendees'] {
  const seen = new Set<string>()
  return attendees.flatMap(({ email, displayName, optional = false }, index) => {
    const path = `body.attendees.${index}`
    const { address, problem } = checkAddress({ name: displayName ?? '', email })
    if (address === undefined) {
      errors.push({ path: `${path}.email`, message: problem })
      return []
    }
    const key = address.email.toLowerCase()
    if (seen.has(key)) errors.push({ path: `${path}.email`, message: 'is in the list twice' })
    seen.add(key)
    return [{ email: address.email, displayName: address.name, optional }]
  })
}
