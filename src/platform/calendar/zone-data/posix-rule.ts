import { civilDate, daysOfMonth, toDay, weekdayOf } from '../days.ts'

/** The yearly changes that a TZ string of POSIX names, with the extensions of RFC 9636: `CET-1CEST,M3.5.0,M10.5.0/3`. */
export interface PosixRule {
  /** The offset to add to UTC. Both in seconds. */
  offsetAt(utcSeconds: number): number
}

const DAY = 86_400
const NAME = String.raw`(?:[A-Za-z]{3,}|<[A-Za-z\d+-]{3,}>)`
const TIME = String.raw`[+-]?\d{1,3}(?::\d{2}){0,2}`
const DATE = String.raw`(?:M\d{1,2}\.[1-5]\.[0-6]|J?\d{1,3})(?:/${TIME})?`
const RULE = new RegExp(`^${NAME}(${TIME})(?:${NAME}(${TIME})?,(${DATE}),(${DATE}))?$`)
const DEFAULT_TIME = 2 * 3600

/** Undefined for text that is not such a string. */
export function parsePosixRule(text: string): PosixRule | undefined {
  const [, standardText, summerText, start, end] = RULE.exec(text) ?? []
  if (standardText === undefined) return undefined
  const standard = 0 - parseSeconds(standardText)
  if (start === undefined || end === undefined) return { offsetAt: () => standard }
  const summer = summerText === undefined ? standard + 3600 : 0 - parseSeconds(summerText)
  const startIn = changeIn(start, standard)
  const endIn = changeIn(end, summer)
  return {
    offsetAt(at) {
      // By the local year: a change may be at New Year.
      const { year } = civilDate(Math.floor((at + standard) / DAY))
      const [from, until] = [startIn(year), endIn(year)]
      const isSummer = from < until ? at >= from && at < until : at >= from || at < until
      return isSummer ? summer : standard
    },
  }
}

/** When a change happens in a year, in UTC. `before`: the offset until then. */
function changeIn(text: string, before: number): (year: number) => number {
  const [date = '', time] = text.split('/')
  const seconds = time === undefined ? DEFAULT_TIME : parseSeconds(time)
  return (year) => dayIn(date, year) * DAY + seconds - before
}

function dayIn(date: string, year: number): number {
  const [, month, week, weekday] = /^M(\d+)\.(\d)\.(\d)$/.exec(date) ?? []
  if (month !== undefined) return nthWeekday(year, Number(month), Number(week), Number(weekday))
  const number = Number(date.replace('J', ''))
  const first = toDay(year, 1, 1)
  if (!date.startsWith('J')) return first + number
  // The 29th of February is not counted.
  return number < 60 ? first + number - 1 : toDay(year, 3, 1) + number - 60
}

/** `week` 5 is the last. `weekday` 0 is Sunday. */
function nthWeekday(year: number, month: number, week: number, weekday: number): number {
  const first = toDay(year, month, 1)
  const day = 1 + ((weekday + 6 - weekdayOf(first) + 7) % 7) + (week - 1) * 7
  return first + (day > daysOfMonth(year, month) ? day - 7 : day) - 1
}

/** `-2`, `03:30`, `+167:00:00` */
function parseSeconds(text: string): number {
  const [hours = 0, minutes = 0, seconds = 0] = text.replace(/^[+-]/, '').split(':').map(Number)
  const total = hours * 3600 + minutes * 60 + seconds
  return text.startsWith('-') ? -total : total
}
