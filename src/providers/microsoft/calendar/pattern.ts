import { civilDate, DAY_MS, formatDay, weekdayOf } from '../../../platform/calendar/days.ts'
import { parseRule, type Rule } from '../../../platform/calendar/rule.ts'
import { windowsZone } from '../../../platform/calendar/zone-names.ts'
import { ProviderError } from '../../contract/index.ts'
import type { Json } from '../../shared/rest/index.ts'
import { type SeriesStart, timeOfDay } from './recurrence.ts'

const DAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
const INDEXES: Readonly<Record<number, string>> = { 1: 'first', 2: 'second', 3: 'third', 4: 'fourth', [-1]: 'last' }

/** Turns recurrence lines into a pattern of Graph; null when there are none. Throws `rejected` for what Outlook cannot repeat. */
export function buildPattern(lines: readonly string[], start: SeriesStart, doing: string): Json | null {
  const [line, ...others] = lines
  if (line === undefined) return null
  const rule = /^RRULE:/i.test(line) ? parseRule(line.slice('RRULE:'.length)) : undefined
  if (rule === undefined || others.length > 0) {
    throw unsupported(doing, 'Outlook takes one RRULE, and no RDATE or EXDATE. Delete single instances instead.')
  }
  const date = civilDate(Math.floor(start.localMs / DAY_MS))
  const pattern = hasTimes(rule) ? undefined : typeAndDays(rule, start, date)
  if (pattern === undefined) throw unsupported(doing, 'Outlook cannot repeat an event by this RRULE.')
  if (pattern === 'short months') {
    const why =
      'In a month without this day Outlook takes the last day. Use BYMONTHDAY=28,29,30,31;BYSETPOS=-1, or another day.'
    throw unsupported(doing, why)
  }
  return { pattern: { ...pattern, interval: rule.interval }, range: buildRange(rule, start) }
}

function typeAndDays(rule: Rule, { localMs }: SeriesStart, date: { month: number; dayOfMonth: number }) {
  const { frequency, byDay = [], byMonth, byMonthDay, bySetPosition } = rule
  const days = byDay.map(({ weekday }) => DAYS[weekday])
  const hasPositions = byDay.some(({ position }) => position !== 0)
  const isWeekly = frequency === 'WEEKLY' || (frequency === 'DAILY' && byDay.length > 0 && rule.interval === 1)
  if (byMonth !== undefined && frequency !== 'YEARLY') return undefined
  if (isWeekly) {
    if (hasPositions || byMonthDay !== undefined || bySetPosition !== undefined) return undefined
    const daysOfWeek = days.length > 0 ? days : [DAYS[weekdayOf(Math.floor(localMs / DAY_MS))]]
    return { type: 'weekly', daysOfWeek, firstDayOfWeek: DAYS[rule.weekStart] }
  }
  if (frequency === 'DAILY') return byMonthDay === undefined && byDay.length === 0 ? { type: 'daily' } : undefined
  if (frequency !== 'MONTHLY' && frequency !== 'YEARLY') return undefined
  const isYearly = frequency === 'YEARLY'
  const month = byMonth?.[0] ?? date.month
  if ((byMonth?.length ?? 1) !== 1) return undefined
  const inMonth = isYearly && { month }
  if (byDay.length > 0) {
    // Without BYMONTH the weekdays of a yearly rule are counted from the beginning of the year.
    if (byMonthDay !== undefined || (isYearly && byMonth === undefined)) return undefined
    const index = weekIndex(rule, hasPositions)
    const type = isYearly ? 'relativeYearly' : 'relativeMonthly'
    return index === undefined ? undefined : { type, daysOfWeek: days, index, ...inMonth }
  }
  const day = dayOfMonth(rule, date.dayOfMonth, isYearly ? month : undefined)
  if (typeof day !== 'number') return day
  return { type: isYearly ? 'absoluteYearly' : 'absoluteMonthly', dayOfMonth: day, ...inMonth }
}

function weekIndex({ byDay = [], bySetPosition }: Rule, hasPositions: boolean): string | undefined {
  if (!hasPositions) return bySetPosition?.length === 1 ? INDEXES[bySetPosition[0] ?? 0] : undefined
  return byDay.length === 1 && bySetPosition === undefined ? INDEXES[byDay[0]?.position ?? 0] : undefined
}

/** Exchange takes the last day where RFC 5545 skips a month: only a rule that says so means the same. */
function dayOfMonth({ byMonthDay, bySetPosition }: Rule, startDay: number, month: number | undefined) {
  if (byMonthDay?.length === 1 && byMonthDay[0] === -1 && bySetPosition === undefined) return 31
  const last = byMonthDay?.at(-1) ?? startDay
  if (bySetPosition !== undefined) {
    const isClamped = byMonthDay?.[0] === 28 && byMonthDay.length === last - 27
    return isClamped && bySetPosition.length === 1 && bySetPosition[0] === -1 ? last : undefined
  }
  if (last < 1 || (byMonthDay?.length ?? 1) !== 1) return undefined
  const isInEvery = month === undefined ? last <= 28 : last <= (SHORTEST[month - 1] ?? 28)
  return isInEvery ? last : ('short months' as const)
}

/** Days of each month in its shortest year. */
const SHORTEST = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

function hasTimes({ byHour, byMinute, bySecond, byWeekNumber, byYearDay }: Rule): boolean {
  return [byHour, byMinute, bySecond, byWeekNumber, byYearDay].some((part) => part !== undefined)
}

function buildRange({ count, until }: Rule, { localMs, zone, isAllDay }: SeriesStart): Json {
  const range = { startDate: formatDay(Math.floor(localMs / DAY_MS)), recurrenceTimeZone: windowsZone(zone.name) }
  if (count !== undefined) return { ...range, type: 'numbered', numberOfOccurrences: count }
  if (until === undefined) return { ...range, type: 'noEnd' }
  const untilLocal = until.isUtc && !isAllDay ? zone.toLocal(until.ms) : until.ms
  // An instance of that day would begin too late.
  const isTooEarly = !isAllDay && timeOfDay(untilLocal) < timeOfDay(localMs)
  return { ...range, type: 'endDate', endDate: formatDay(Math.floor(untilLocal / DAY_MS) - (isTooEarly ? 1 : 0)) }
}

export function unsupported(doing: string, why: string): ProviderError {
  return new ProviderError('rejected', `${doing}: ${why}`, { unsupported: true })
}
