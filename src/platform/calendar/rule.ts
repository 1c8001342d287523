import { DAY_MS, parseDay, parseLocal } from './days.ts'

/** From coarse to fine. */
const FREQUENCIES = ['YEARLY', 'MONTHLY', 'WEEKLY', 'DAILY', 'HOURLY', 'MINUTELY', 'SECONDLY'] as const
type Frequency = (typeof FREQUENCIES)[number]

/** A recurrence rule of RFC 5545, section 3.3.10. Lists are sorted and have no duplicates; undefined when the part is absent. */
export interface Rule {
  frequency: Frequency
  interval: number
  count: number | undefined
  until: Until | undefined
  byMonth: number[] | undefined
  byWeekNumber: number[] | undefined
  byYearDay: number[] | undefined
  byMonthDay: number[] | undefined
  byDay: WeekdayOfRule[] | undefined
  byHour: number[] | undefined
  byMinute: number[] | undefined
  bySecond: number[] | undefined
  bySetPosition: number[] | undefined
  /** Replaces a day that its month does not have (RFC 7529) by the day before or after it. Undefined: it is left out. */
  skip: 'BACKWARD' | 'FORWARD' | undefined
  /** 0 is Monday. */
  weekStart: number
}

/** The last possible start. `isUtc`: `ms` is an instant, otherwise a wall clock. */
export interface Until {
  ms: number
  isUtc: boolean
}

/** `position` is the n-th such weekday of the month or year, from its end when negative; 0: every one. */
interface WeekdayOfRule {
  weekday: number
  position: number
}

const SKIPS = ['BACKWARD', 'FORWARD'] as const
const MAX_LENGTH = 4000
/** By number: 0 is Monday. */
export const WEEKDAYS = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU']
const WEEKDAY = /^([+-]?\d{1,2})?(MO|TU|WE|TH|FR|SA|SU)$/
const INTEGER = /^[+-]?\d{1,10}$/

/** Parses the value of an RRULE that somebody writes now, `FREQ=WEEKLY;BYDAY=MO,WE`. Undefined when any part of it is wrong. */
export function parseRule(value: string): Rule | undefined {
  const { rule, isWhole } = readRule(value)
  return isWhole ? rule : undefined
}

/**
 * Reads a rule that a program has written. What is no value of its part is left out, and unknown parts (X-…) are ignored. `isWhole` is
 * false where something was left out, so that the series may have more instances than it should. `rule` is undefined without FREQ, and
 * in another calendar than the Gregorian.
 */
export function readRule(value: string): { rule: Rule | undefined; isWhole: boolean } {
  const parts = new Map<string, string>()
  for (const part of value.slice(0, MAX_LENGTH).toUpperCase().split(';')) {
    const [name = '', text = ''] = part.split('=').map((piece) => piece.trim())
    if (text !== '') parts.set(name, text)
  }
  const frequency = FREQUENCIES.find((name) => name === parts.get('FREQ'))
  const scale = parts.get('RSCALE')
  if (frequency === undefined || (scale !== undefined && scale !== 'GREGORIAN'))
    return { rule: undefined, isWhole: false }

  let isWhole = value.length <= MAX_LENGTH
  /** Applies `parse` to a part, if the rule has it. */
  function read<T>(name: string, parse: (text: string) => T | undefined): T | undefined {
    const text = parts.get(name)
    if (text === undefined) return undefined
    const parsed = parse(text)
    if (parsed === undefined) isWhole = false
    return parsed
  }
  /** The same for a list. A list without any value is no part. */
  function readList<T>(name: string, parse: (text: string) => T | undefined): T[] | undefined {
    const items = parts.get(name)?.split(',') ?? []
    const parsed = items.map((item) => parse(item.trim())).filter((item) => item !== undefined)
    if (parsed.length < items.length) isWhole = false
    return parsed.length === 0 ? undefined : parsed
  }
  const numbers = (name: string, from: number, to: number) => {
    // Ranges that include negative numbers do not include 0.
    const list = readList(name, (text) => (from < 0 && Number(text) === 0 ? undefined : parseInteger(text, from, to)))
    return list && sorted(list)
  }
  const bySecond = numbers('BYSECOND', 0, 60)
  const byDay = readList('BYDAY', parseWeekday)

  const rule: Rule = {
    frequency,
    interval: Math.max(1, read('INTERVAL', (text) => parseInteger(text, 0, 1e9)) ?? 1),
    count: read('COUNT', (text) => parseInteger(text, 1, 1e10)),
    until: read('UNTIL', parseUntil),
    byMonth: numbers('BYMONTH', 1, 12),
    byWeekNumber: numbers('BYWEEKNO', -53, 53),
    byYearDay: numbers('BYYEARDAY', -366, 366),
    byMonthDay: numbers('BYMONTHDAY', -31, 31),
    byDay: byDay && [...new Map(byDay.map((day) => [`${day.position} ${day.weekday}`, day])).values()],
    byHour: numbers('BYHOUR', 0, 23),
    byMinute: numbers('BYMINUTE', 0, 59),
    // A leap second is read as the second before it (RFC 5545, 3.3.12).
    bySecond: bySecond && sorted(bySecond.map((value) => Math.min(value, 59))),
    bySetPosition: numbers('BYSETPOS', -366, 366),
    skip: SKIPS.find((name) => name === parts.get('SKIP')),
    weekStart: read('WKST', (text) => parseWeekday(text)?.weekday) ?? 0,
  }
  return { rule, isWhole }
}

function parseInteger(text: string, from: number, to: number): number | undefined {
  const value = INTEGER.test(text) ? Number(text) : Number.NaN
  return value >= from && value <= to ? value : undefined
}

function sorted(values: number[]): number[] {
  return [...new Set(values)].sort((left, right) => left - right)
}

function parseWeekday(text: string): WeekdayOfRule | undefined {
  const [, position = '0', name] = WEEKDAY.exec(text) ?? []
  if (name === undefined || Math.abs(Number(position)) > 53) return undefined
  return { weekday: WEEKDAYS.indexOf(name), position: Number(position) }
}

/** A date means the whole day, also where the series has times: programs write the last day of the series. */
function parseUntil(text: string): Until | undefined {
  const day = parseDay(text)
  if (day !== undefined) return { ms: day * DAY_MS + DAY_MS - 1, isUtc: false }
  const isUtc = text.endsWith('Z')
  const ms = parseLocal(isUtc ? text.slice(0, -1) : text)
  return ms === undefined ? undefined : { ms, isUtc }
}
