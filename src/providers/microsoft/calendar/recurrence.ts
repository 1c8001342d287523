import { DAY_MS, formatLocal, parseDay } from '../../../platform/calendar/days.ts'
import type { Zone } from '../../../platform/calendar/zone.ts'
import { type Json, list, object, text, wholeNumber } from '../../shared/rest/index.ts'

const DAYS: Readonly<Record<string, string>> = {
  sunday: 'SU',
  monday: 'MO',
  tuesday: 'TU',
  wednesday: 'WE',
  thursday: 'TH',
  friday: 'FR',
  saturday: 'SA',
}
const POSITIONS: Readonly<Record<string, number>> = { first: 1, second: 2, third: 3, fourth: 4, last: -1 }

/** The start of a series. `localMs` is a wall clock of its zone as if it were UTC. */
export interface SeriesStart {
  localMs: number
  zone: Zone
  isAllDay: boolean
}

/** The RRULE of a series. Empty when the pattern cannot be read. */
export function recurrenceLines(recurrence: Json, start: SeriesStart): string[] {
  const pattern = patternParts(object(recurrence.pattern))
  return pattern === undefined
    ? []
    : [`RRULE:${[...pattern, ...rangeParts(object(recurrence.range), start)].join(';')}`]
}

/** The day of `OID.<master>.2026-11-20`, which an instance has even after it was moved. */
export function dayOfOccurrence(id: unknown): number | undefined {
  return parseDay(/\.(\d{4}-\d{2}-\d{2})$/.exec(text(id) ?? '')?.[1] ?? '')
}

function patternParts(pattern: Json): string[] | undefined {
  const type = text(pattern.type)?.toLowerCase() ?? ''
  const interval = Math.max(1, wholeNumber(pattern.interval) ?? 1)
  const every = (frequency: string) => [`FREQ=${frequency}`, ...(interval === 1 ? [] : [`INTERVAL=${interval}`])]
  const days = list(pattern.daysOfWeek).flatMap((day) => DAYS[text(day)?.toLowerCase() ?? ''] ?? [])
  const month = wholeNumber(pattern.month) ?? 0
  const isMonth = month >= 1 && month <= 12
  if (type === 'daily') return every('DAILY')
  if (type === 'weekly') {
    const weekStart = DAYS[text(pattern.firstDayOfWeek)?.toLowerCase() ?? ''] ?? 'SU'
    return [...every('WEEKLY'), ...(days.length === 0 ? [] : [`BYDAY=${days.join(',')}`]), `WKST=${weekStart}`]
  }
  const onDay = dayOfMonthParts(wholeNumber(pattern.dayOfMonth) ?? 0)
  const onWeekday = weekdayParts(days, POSITIONS[text(pattern.index)?.toLowerCase() ?? 'first'] ?? 1)
  if (type === 'absolutemonthly') return onDay && [...every('MONTHLY'), ...onDay]
  if (type === 'relativemonthly') return onWeekday && [...every('MONTHLY'), ...onWeekday]
  if (!isMonth) return undefined
  if (type === 'absoluteyearly') return onDay && [...every('YEARLY'), `BYMONTH=${month}`, ...onDay]
  if (type === 'relativeyearly') return onWeekday && [...every('YEARLY'), `BYMONTH=${month}`, ...onWeekday]
  return undefined
}

/** In a month without this day Exchange takes the last day; RFC 5545 skips the month. */
function dayOfMonthParts(day: number): string[] | undefined {
  if (day < 1 || day > 31) return undefined
  if (day <= 28) return [`BYMONTHDAY=${day}`]
  const days = Array.from({ length: day - 27 }, (_, index) => 28 + index)
  return [`BYMONTHDAY=${days.join(',')}`, 'BYSETPOS=-1']
}

/** Several weekdays mean one instance, such as the second day that is a Thursday or a Friday. */
function weekdayParts(days: readonly string[], position: number): string[] | undefined {
  if (days.length === 0) return undefined
  return days.length === 1 ? [`BYDAY=${position}${days[0]}`] : [`BYDAY=${days.join(',')}`, `BYSETPOS=${position}`]
}

function rangeParts(range: Json, start: SeriesStart): string[] {
  const type = text(range.type)?.toLowerCase()
  const count = wholeNumber(range.numberOfOccurrences) ?? 0
  if (type === 'numbered' && count > 0) return [`COUNT=${count}`]
  const end = type === 'enddate' ? parseDay(text(range.endDate) ?? '') : undefined
  return end === undefined ? [] : [`UNTIL=${formatUntil(end, start)}`]
}

/** The last day is included. */
function formatUntil(day: number, { localMs, zone, isAllDay }: SeriesStart): string {
  if (isAllDay) return basic(day * DAY_MS).slice(0, 8)
  return `${basic(zone.toUtc(day * DAY_MS + timeOfDay(localMs)))}Z`
}

export function timeOfDay(localMs: number): number {
  return localMs - Math.floor(localMs / DAY_MS) * DAY_MS
}

/** `20261120T090000` */
function basic(localMs: number): string {
  return formatLocal(localMs).replace(/[-:]/g, '')
}
