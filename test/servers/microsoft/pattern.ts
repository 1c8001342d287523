import { createRequire } from 'node:module'
import { DateTime } from 'luxon'
import type { Options } from 'rrule'

// Its ES module has no `exports` entry, so Node would load it without its named exports.
const { RRule } = createRequire(import.meta.url)('rrule') as typeof import('rrule')

export interface PatternedRecurrence {
  pattern: {
    type: 'daily' | 'weekly' | 'absoluteMonthly' | 'relativeMonthly' | 'absoluteYearly' | 'relativeYearly'
    interval: number
    month?: number
    dayOfMonth?: number
    daysOfWeek?: string[]
    firstDayOfWeek?: string
    index?: 'first' | 'second' | 'third' | 'fourth' | 'last'
  }
  range: {
    type: 'endDate' | 'noEnd' | 'numbered'
    startDate: string
    endDate?: string
    recurrenceTimeZone?: string
    numberOfOccurrences?: number
  }
}

const DAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']
const POSITIONS = { first: 1, second: 2, third: 3, fourth: 4, last: -1 }
const LAST = '2100-01-01'

/**
 * The dates of a series up to `last`. Expanded by `rrule`, and by luxon where Exchange differs from RFC 5545: a month without the day
 * has the instance on its last day.
 */
export function expandDates({ pattern, range }: PatternedRecurrence, last: string): string[] {
  const end = [range.type === 'endDate' ? (range.endDate ?? LAST) : LAST, last].sort()[0] ?? last
  const limit = range.type === 'numbered' ? (range.numberOfOccurrences ?? 1) : Number.POSITIVE_INFINITY
  const dates = pattern.type.startsWith('absolute')
    ? monthDates({ pattern, range }, end)
    : ruleDates({ pattern, range }, end)
  return dates.slice(0, limit)
}

function ruleDates({ pattern, range }: PatternedRecurrence, end: string): string[] {
  const weekdays = (pattern.daysOfWeek ?? []).map((day) => DAYS.indexOf(day))
  const frequencies = { daily: RRule.DAILY, weekly: RRule.WEEKLY, relativeMonthly: RRule.MONTHLY } as const
  const type = pattern.type as keyof typeof frequencies | 'relativeYearly'
  const isRelative = pattern.type.startsWith('relative')
  const options: Partial<Options> = {
    freq: type === 'relativeYearly' ? RRule.YEARLY : frequencies[type],
    interval: pattern.interval,
    wkst: Math.max(0, DAYS.indexOf(pattern.firstDayOfWeek ?? 'sunday')),
    dtstart: new Date(`${range.startDate}T00:00:00Z`),
    until: new Date(`${end}T00:00:00Z`),
    ...(weekdays.length > 0 && { byweekday: weekdays }),
    ...(isRelative && { bysetpos: POSITIONS[pattern.index ?? 'first'] }),
    ...(type === 'relativeYearly' && { bymonth: pattern.month ?? 1 }),
  }
  return new RRule(options).all().map((date) => date.toISOString().slice(0, 10))
}

function monthDates({ pattern, range }: PatternedRecurrence, end: string): string[] {
  const isYearly = pattern.type === 'absoluteYearly'
  const begin = DateTime.fromISO(range.startDate, { zone: 'utc' })
  const first = isYearly ? begin.set({ day: 1, month: pattern.month ?? 1 }) : begin.set({ day: 1 })
  const dates: string[] = []
  for (let count = 0; ; count += pattern.interval) {
    const month = first.plus(isYearly ? { years: count } : { months: count })
    const date = month.set({ day: Math.min(pattern.dayOfMonth ?? 1, month.daysInMonth ?? 28) }).toFormat('yyyy-MM-dd')
    if (date > end) return dates
    if (date >= range.startDate) dates.push(date)
  }
}
