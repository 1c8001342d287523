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
  /** 0 is Monday. */
  weekStart: number
}

/** The last possible start. `isUtc`: `ms` is an instant, otherwise a wall clock. */
export interface Until {
  ms: number
  isUtc: boolean
}

/** `position` is the n-th such weekday of the month or year, from its end when negative; 0: every one. */
export interface WeekdayOfRule {
  weekday: number
  position: number
}

const MAX_LENGTH = 4000
/** By number: 0 is Monday. */
export const WEEKDAYS = ['MO', 'TU', 'WE', 'TH', 'FR', 'SA', 'SU']
const WEEKDAY = /^([+-]?\d{1,2})?(MO|TU|WE|TH|FR|SA|SU)$/
const INTEGER = /^[+-]?\d{1,10}$/

/**
 * Parses the value of an RRULE, `FREQ=WEEKLY;BYDAY=MO,WE`. Undefined when it is not a rule; one bad part makes the whole rule bad,
 * because without this part it would mean other days. Unknown parts (X-…, SKIP) are ignored.
 */
export function parseRule(value: string): Rule | undefined {
  if (value.length > MAX_LENGTH) return undefined
  const parts = new Map<string, string>()
  for (const part of value.toUpperCase().split(';')) {
    const [name = '', text = ''] = part.split('=').map((piece) => piece.trim())
    if (text !== '') parts.set(name, text)
  }
  const frequency = FREQUENCIES.find((name) => name === parts.get('FREQ'))
  const scale = parts.get('RSCALE')
  if (frequency === undefined || (scale !== undefined && scale !== 'GREGORIAN')) return undefined

  let isValid = true
  /** Applies `parse` to a part, if the rule has it. */
  function read<T>(name: string, parse: (text: string) => T | undefined): T | undefined {
    const text = parts.get(name)
    if (text === undefined) return undefined
    const parsed = parse(text)
    if (parsed === undefined) isValid = false
    return parsed
  }
  const numbers = (name: string, from: number, to: number) => read(name, (text) => numbersOf(text, from, to))

  const rule: Rule = {
    frequency,
    interval: Math.max(1, read('INTERVAL', (text) => integerOf(text, 0, 1e9)) ?? 1),
    count: read('COUNT', (text) => integerOf(text, 1, 1e10)),
    until: read('UNTIL', untilOf),
    byMonth: numbers('BYMONTH', 1, 12),
    byWeekNumber: numbers('BYWEEKNO', -53, 53),
    byYearDay: numbers('BYYEARDAY', -366, 366),
    byMonthDay: numbers('BYMONTHDAY', -31, 31),
    byDay: read('BYDAY', weekdaysOf),
    byHour: numbers('BYHOUR', 0, 23),
    byMinute: numbers('BYMINUTE', 0, 59),
    bySecond: read('BYSECOND', secondsOf),
    bySetPosition: numbers('BYSETPOS', -366, 366),
    weekStart: read('WKST', (text) => weekdaysOf(text)?.[0]?.weekday) ?? 0,
  }
  return isValid ? rule : undefined
}

function integerOf(text: string, from: number, to: number): number | undefined {
  const value = INTEGER.test(text) ? Number(text) : Number.NaN
  return value >= from && value <= to ? value : undefined
}

/** Ranges that include negative numbers do not include 0. */
function numbersOf(text: string, from: number, to: number): number[] | undefined {
  const values = text.split(',').map((item) => integerOf(item.trim(), from, to))
  const valid = values.filter((value) => value !== undefined && !(from < 0 && value === 0))
  return valid.length === values.length ? sorted(valid as number[]) : undefined
}

/** A leap second is read as the second before it (RFC 5545, 3.3.12). */
function secondsOf(text: string): number[] | undefined {
  const values = numbersOf(text, 0, 60)
  return values === undefined ? undefined : sorted(values.map((value) => Math.min(value, 59)))
}

function sorted(values: number[]): number[] {
  return [...new Set(values)].sort((left, right) => left - right)
}

function weekdaysOf(text: string): WeekdayOfRule[] | undefined {
  const found = new Map<string, WeekdayOfRule>()
  for (const item of text.split(',')) {
    const [, position = '0', name] = WEEKDAY.exec(item.trim()) ?? []
    if (name === undefined || Math.abs(Number(position)) > 53) return undefined
    found.set(`${Number(position)}${name}`, { weekday: WEEKDAYS.indexOf(name), position: Number(position) })
  }
  return [...found.values()]
}

/** A date means the whole day, also where the series has times: programs write the last day of the series. */
function untilOf(text: string): Until | undefined {
  const day = parseDay(text)
  if (day !== undefined) return { ms: day * DAY_MS + DAY_MS - 1, isUtc: false }
  const isUtc = text.endsWith('Z')
  const ms = parseLocal(isUtc ? text.slice(0, -1) : text)
  return ms === undefined ? undefined : { ms, isUtc }
}
