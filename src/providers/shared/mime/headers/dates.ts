import { withoutComments } from './comments.ts'

const MAX_DATE = 200
const EARLIEST_MS = Date.UTC(1970, 0, 1)
const LATEST_MS = Date.UTC(9999, 0, 1)
const MINUTE_MS = 60_000

interface Found {
  day?: number
  month?: number
  year?: number
  time?: { hour: number; minute: number; second: number }
  isAfternoon?: boolean
  offsetMinutes?: number
}

/**
 * The instant of a Date field in milliseconds (RFC 5322 3.3 with the obsolete forms of 4.3, and what programs write instead: asctime, ISO
 * 8601, dots or dashes between numbers, zones of any kind). A date without a zone, or with one that nobody knows, is UTC. Null if
 * a day, a month, a year or a time is missing.
 */
export function readDate(value = ''): number | null {
  const found = readUsual(value) ?? readAny(value)
  const { day, month, year, time, offsetMinutes = 0 } = found
  if (day === undefined || month === undefined || year === undefined || time === undefined) return null
  const ms = Date.UTC(year, month, day, toHour(found), time.minute, time.second)
  const date = new Date(Date.UTC(year, month, day))
  // The 31st of a month that has 30 days.
  if (date.getUTCMonth() !== month) return null
  const instant = ms - offsetMinutes * MINUTE_MS
  return instant >= EARLIEST_MS && instant < LATEST_MS ? instant : null
}

const USUAL =
  /^(?:[A-Z][a-z]{2}, )?(\d{1,2}) ([A-Z][a-z]{2}) (\d{4}) (\d\d):(\d\d):(\d\d) ([+-])(\d\d)(\d\d)(?: \([A-Z]{1,5}\))?$/

/** Reads the form that nearly every program writes, in a tenth of the time of all other forms. */
function readUsual(value: string): Found | undefined {
  const match = USUAL.exec(value)
  const month = match === null ? -1 : SHORT_MONTHS.indexOf(match[2] ?? '')
  if (match === null || month === -1) return undefined
  const [, day, , year, hour, minute, second, sign, hours, minutes] = match
  const time = { hour: Number(hour), minute: Number(minute), second: Number(second) }
  const offset = Number(hours) * 60 + Number(minutes)
  const isUsual = Number(day) >= 1 && Number(day) <= 31 && time.hour < 24 && time.minute < 60 && time.second < 60
  if (!isUsual || Number(minutes) > 59 || offset > MAX_OFFSET) return undefined
  return { day: Number(day), month, year: Number(year), time, offsetMinutes: sign === '-' ? -offset : offset }
}

function readAny(value: string): Found {
  const text = withoutComments(value.slice(0, MAX_DATE)).trim()
  return readIso(text) ?? readWords(text)
}

/** Converts from a clock of twelve hours, whose first hour is 12. */
function toHour({ time, isAfternoon }: Found): number {
  const hour = time?.hour ?? 0
  if (isAfternoon === undefined || hour > 12) return hour
  return (hour % 12) + (isAfternoon ? 12 : 0)
}

const ISO = /^(\d{4})[-/](\d{1,2})[-/](\d{1,2})[T\s]+(\d{1,2}):(\d{2})(?::(\d{2}))?(?:[.,]\d+)?\s*(.*)$/i

function readIso(text: string): Found | undefined {
  const match = ISO.exec(text)
  if (match === null) return undefined
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1, 7)
    .map((part) => Number(part ?? 0))
  if (month < 1 || month > 12 || day < 1 || day > 31 || hour > 24 || minute > 59 || second > 60) return {}
  return { year, month: month - 1, day, time: { hour, minute, second }, offsetMinutes: readZone(match[7] ?? '') ?? 0 }
}

function readWords(text: string): Found {
  const found: Found = {}
  const words = separated(text).split(/[\s,]+/)
  const zone: string[] = []
  for (const word of words) {
    if (word === '' || readPart(word, found)) continue
    // Anything behind the time that is no part of the date belongs to the zone.
    if (found.time !== undefined) zone.push(word)
  }
  const offset = zone.length === 0 ? undefined : readZone(zone.join(' '))
  if (offset !== undefined) found.offsetMinutes = offset
  return found
}

/** `20-Nov-2026` and `20.Nov.2026` as words; `10.00.00` as a time. */
function separated(text: string): string {
  return text
    .replace(/\b(\d{1,2})[-. ]([a-z]{3,9})[-. ,]\s*(\d{2,4})\b/i, '$1 $2 $3')
    .replace(/(\d) ?: ?(?=\d)/g, '$1:')
    .replace(/\b(\d{1,2})\.(\d{2})\.(\d{2})\b/, '$1:$2:$3')
    .replace(/(\d)(am|pm)\b/i, '$1 $2')
    .replace(/(:\d{2})([+-]\d{4})\b/, '$1 $2')
}

/** Takes a word that is the day, the month, the year or the time. */
function readPart(word: string, found: Found): boolean {
  const time = /^(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:[.,]\d+)?)?$/.exec(word)
  if (time !== null && found.time === undefined) {
    const [hour = 0, minute = 0, second = 0] = time.slice(1, 4).map((part) => Number(part ?? 0))
    if (hour <= 24 && minute <= 59 && second <= 60) found.time = { hour, minute, second }
    return true
  }
  if (/^\d{1,4}$/.test(word)) return readNumber(word, found)
  if (/^[ap]\.?m\.?$/i.test(word) && found.time !== undefined) {
    found.isAfternoon = word[0]?.toLowerCase() === 'p'
    return true
  }
  const name = word.toLowerCase().replace(/\.$/, '')
  const month = MONTHS.findIndex((full) => name.length >= 3 && full.startsWith(name.slice(0, 9)))
  if (month !== -1 && found.month === undefined) {
    found.month = month
    return true
  }
  return found.time === undefined && DAYS.some((full) => name.length >= 2 && full.startsWith(name))
}

function readNumber(word: string, found: Found): boolean {
  const number = Number(word)
  if (found.day === undefined && word.length <= 2) {
    if (number >= 1 && number <= 31) found.day = number
    return true
  }
  if (found.year !== undefined || word.length < 2) return false
  found.year = fullYear(number, word.length)
  return true
}

/** RFC 5322 4.3: two digits below 50 are of this century, others and three digits count from 1900. */
function fullYear(year: number, digits: number): number {
  if (digits === 2) return year < 50 ? 2000 + year : 1900 + year
  return digits === 3 ? 1900 + year : year
}

const MONTHS = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
]

const SHORT_MONTHS = MONTHS.map((name) => `${name[0]?.toUpperCase()}${name.slice(1, 3)}`)

const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday']

/** The offset in minutes east of UTC: `+0200`, `+02:00`, `GMT+2`, `-0500 EST`, `PST`. Undefined for a zone that nobody knows. */
function readZone(zone: string): number | undefined {
  const text = zone.trim().replace(/^["']|["']$/g, '')
  const [, sign, hours = '', minutes = '0'] =
    /^(?:UTC|GMT|UT|Z)?\s*([+-])\s*(\d{1,2}):?(\d{2})?(?=\D|$)/i.exec(text) ?? []
  if (sign !== undefined) {
    const offset = Number(hours) * 60 + Number(minutes)
    // Nowhere is the clock further away; such a number says nothing.
    if (Number(minutes) > 59 || offset > MAX_OFFSET) return 0
    return sign === '-' ? -offset : offset
  }
  const name = /^[a-z]+/i.exec(text)?.[0].toUpperCase() ?? ''
  return name === text.toUpperCase().replace(/\.$/, '') ? OFFSETS.get(name) : undefined
}

const MAX_OFFSET = 14 * 60

/** Names with one meaning in mail, in hours. Of those with several (IST, CST, BST), the one that RFC 5322 names or that mail software writes. */
const OFFSETS: ReadonlyMap<string, number> = new Map(
  Object.entries({
    UT: 0,
    UTC: 0,
    GMT: 0,
    Z: 0,
    WET: 0,
    WEST: 1,
    BST: 1,
    IST: 5.5,
    CET: 1,
    MET: 1,
    MEZ: 1,
    CEST: 2,
    MEST: 2,
    MESZ: 2,
    EET: 2,
    EEST: 3,
    MSK: 3,
    MSD: 4,
    SAST: 2,
    PKT: 5,
    ICT: 7,
    WIB: 7,
    HKT: 8,
    SGT: 8,
    AWST: 8,
    KST: 9,
    JST: 9,
    AEST: 10,
    AEDT: 11,
    ACST: 9.5,
    ACDT: 10.5,
    NZST: 12,
    NZDT: 13,
    NST: -3.5,
    NDT: -2.5,
    AST: -4,
    ADT: -3,
    BRT: -3,
    ART: -3,
    EST: -5,
    EDT: -4,
    CST: -6,
    CDT: -5,
    MST: -7,
    MDT: -6,
    PST: -8,
    PDT: -7,
    AKST: -9,
    AKDT: -8,
    HST: -10,
  }).map(([name, hours]) => [name, hours * 60]),
)
