import { civilDate, DAY_MS, parseDay, toDay } from '../calendar/days.ts'
import { invalid } from '../errors/app-error.ts'

/** `2026-01-31T08:00:00.000Z`, the only form of times in responses and events. */
export function isoTime(ms: number): string {
  // The rows of a transaction have the same times.
  if (ms !== last.ms) last = { ms, text: new Date(ms).toISOString() }
  return last.text
}

let last = { ms: Number.NaN, text: '' }

/** For nullable columns. */
export function isoTimeOrNull(ms: number | null): string | null {
  return ms === null ? null : isoTime(ms)
}

/** Explains why `parseTime` refuses a value of a request. */
export const TIME_PROBLEM = 'must be an RFC 3339 time with an offset, such as 2026-01-31T08:00:00Z'

const OFFSET_TIME = /^(\d{4}-\d\d-\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))$/
const MINUTE_MS = 60_000
const FIRST_MS = toDay(1, 1, 1) * DAY_MS
const END_MS = toDay(10_000, 1, 1) * DAY_MS

/**
 * Milliseconds of an RFC 3339 time with an offset; undefined for any other text. Every input of a request passes here, so that
 * a time exists for all of them or for none. Digits after the milliseconds are cut off. A leap second is possible at the end of
 * a UTC month, and is read as the first instant after it. In UTC the year must be 1 to 9999.
 */
export function parseTime(text: string): number | undefined {
  const [, date = '', hours, minutes, seconds, fraction = '', sign, offsetHours = '0', offsetMinutes = '0'] =
    OFFSET_TIME.exec(text) ?? []
  const day = parseDay(date)
  if (day === undefined) return undefined
  const isLeapSecond = seconds === '60'
  if (Number(hours) > 23 || Number(minutes) > 59 || (Number(seconds) > 59 && !isLeapSecond)) return undefined
  if (Number(offsetHours) > 23 || Number(offsetMinutes) > 59) return undefined
  const offsetMs = (Number(offsetHours) * 60 + Number(offsetMinutes)) * MINUTE_MS * (sign === '-' ? -1 : 1)
  const localMs = day * DAY_MS + (Number(hours) * 60 + Number(minutes)) * MINUTE_MS + Number(seconds) * 1000
  const utcMs = localMs - offsetMs
  if (isLeapSecond && !isStartOfMonth(utcMs)) return undefined
  const ms = isLeapSecond ? utcMs : utcMs + Number(fraction.slice(0, 3).padEnd(3, '0'))
  return ms >= FIRST_MS && ms < END_MS ? ms : undefined
}

/** Milliseconds of a time in a request. Throws `validation_failed` for the field at `path`. */
export function requireTime(path: string, text: string): number {
  const ms = parseTime(text)
  if (ms === undefined) throw invalid(path, TIME_PROBLEM)
  return ms
}

function isStartOfMonth(ms: number): boolean {
  return ms % DAY_MS === 0 && civilDate(ms / DAY_MS).dayOfMonth === 1
}
