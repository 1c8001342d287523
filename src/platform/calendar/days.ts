/**
 * Dates as the number of days since 1970-01-01, and wall clocks as milliseconds since then, as if they were UTC. Proleptic Gregorian
 * calendar. `Date` is not used, because it reads the years 0 to 99 as 1900 to 1999.
 */
export const DAY_MS = 86_400_000

/** `month` is 1 to 12. */
export interface CivilDate {
  year: number
  month: number
  dayOfMonth: number
}

const DAYS_OF_ERA = 146_097
/** From 0000-03-01 to 1970-01-01. */
const EPOCH = 719_468
/** Years begin in March here, so that the leap day is the last day of a year. */
const FIRST_MONTH = 3
/** The years that four digits write. */
const FIRST_DAY = toDay(1, 1, 1)
export const LAST_DAY = toDay(9999, 12, 31)
const LAST_SECOND_MS = LAST_DAY * DAY_MS + DAY_MS - 1000

export function toDay(year: number, month: number, dayOfMonth: number): number {
  const shifted = month < FIRST_MONTH ? year - 1 : year
  const era = Math.floor(shifted / 400)
  const yearOfEra = shifted - era * 400
  const dayOfYear = Math.floor((153 * ((month + 12 - FIRST_MONTH) % 12) + 2) / 5) + dayOfMonth - 1
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear
  return era * DAYS_OF_ERA + dayOfEra - EPOCH
}

export function civilDate(day: number): CivilDate {
  const shifted = day + EPOCH
  const era = Math.floor(shifted / DAYS_OF_ERA)
  const dayOfEra = shifted - era * DAYS_OF_ERA
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  )
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100))
  const shiftedMonth = Math.floor((5 * dayOfYear + 2) / 153)
  const month = ((shiftedMonth + FIRST_MONTH - 1) % 12) + 1
  const dayOfMonth = dayOfYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1
  return { year: yearOfEra + era * 400 + (month < FIRST_MONTH ? 1 : 0), month, dayOfMonth }
}

export function daysOfMonth(year: number, month: number): number {
  if (month === 2) return isLeapYear(year) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

export function daysOfYear(year: number): number {
  return isLeapYear(year) ? 366 : 365
}

function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
}

/** 0 is Monday. */
export function weekdayOf(day: number): number {
  return (((day + 3) % 7) + 7) % 7
}

const DATE = /^(\d{4})-?(\d{2})-?(\d{2})$/
const DATE_TIME = /^(\d{4})-?(\d{2})-?(\d{2})[Tt](\d{2}):?(\d{2}):?(\d{2})(?:\.\d+)?$/

/** A date in the form of RFC 5545 (`20261120`) or RFC 3339 (`2026-11-20`). Undefined when there is no such date. */
export function parseDay(text: string): number | undefined {
  const [, year, month, dayOfMonth] = DATE.exec(text) ?? []
  return checkedDay(Number(year), Number(month), Number(dayOfMonth))
}

/**
 * A local time in the form of RFC 5545 (`20261120T090000`) or RFC 3339 without an offset, as a wall clock in milliseconds. `T240000` is the
 * end of the day, as ISO 8601 has it.
 */
export function parseLocal(text: string): number | undefined {
  const [, year, month, dayOfMonth, hours, minutes, seconds] = DATE_TIME.exec(text) ?? []
  const day = checkedDay(Number(year), Number(month), Number(dayOfMonth))
  // A leap second is read as the second before it (RFC 5545, 3.3.12).
  const time = [Number(hours), Number(minutes), Math.min(Number(seconds), 59)] as const
  const isMidnight = time[0] === 24 && time[1] === 0 && time[2] === 0
  if (day === undefined || Number(seconds) > 60 || (time[0] > 23 && !isMidnight) || time[1] > 59) return undefined
  return day * DAY_MS + (time[0] * 3600 + time[1] * 60 + time[2]) * 1000
}

function checkedDay(year: number, month: number, dayOfMonth: number): number | undefined {
  const exists = year >= 1 && month >= 1 && month <= 12 && dayOfMonth >= 1 && dayOfMonth <= daysOfMonth(year, month)
  return exists ? toDay(year, month, dayOfMonth) : undefined
}

/** `2026-11-20`. The nearest date where the year has more than four digits, so that `parseDay` reads it. */
export function formatDay(day: number): string {
  const { year, month, dayOfMonth } = civilDate(Math.min(Math.max(day, FIRST_DAY), LAST_DAY))
  return `${digits(year, 4)}-${digits(month, 2)}-${digits(dayOfMonth, 2)}`
}

/** `2026-11-20T09:00:00`, within the same years. */
export function formatLocal(localMs: number): string {
  const nearestMs = Math.min(Math.max(localMs, FIRST_DAY * DAY_MS), LAST_SECOND_MS)
  const day = Math.floor(nearestMs / DAY_MS)
  const seconds = Math.floor((nearestMs - day * DAY_MS) / 1000)
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  return `${formatDay(day)}T${digits(hours, 2)}:${digits(minutes, 2)}:${digits(seconds % 60, 2)}`
}

function digits(value: number, length: number): string {
  return String(value).padStart(length, '0')
}
