/** Dates as `YYYY-MM-DD` and slots by day. Only `dayIn` knows a time zone; everything else is arithmetic of dates. */

/** A calendar date, `YYYY-MM-DD`. */
export type Day = string

/** A bookable time, as the API returns it. Sent back unchanged. */
export interface Slot {
  /** UTC, RFC 3339. */
  start: string
  end: string
  timezone?: string
  participants?: unknown[]
  metadata?: Record<string, unknown>
  token?: string
}

/** First and last day, both included. */
export interface Window {
  from: Day
  to: Day
}

const DAY_MS = 86_400_000
/** No zone is further from UTC. */
const MAX_OFFSET_MS = 14 * 3_600_000

const utc = (day: Day) => Date.parse(`${day}T00:00:00Z`)
const dayAt = (ms: number): Day => new Date(ms).toISOString().slice(0, 10)

export const addDays = (day: Day, count: number): Day => dayAt(utc(day) + count * DAY_MS)

/** The days of the month that contains this day. */
export function monthOf(day: Day): Window {
  const date = new Date(utc(day))
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
  return { from: dayAt(Date.UTC(year, month, 1)), to: dayAt(Date.UTC(year, month + 1, 0)) }
}

/** The seven days of the week that contains this day. `firstDay` is 1 for Monday to 7 for Sunday. */
export function weekOf(day: Day, firstDay: number): Window {
  const from = addDays(day, -((new Date(utc(day)).getUTCDay() - firstDay + 7) % 7))
  return { from, to: addDays(from, 6) }
}

export function daysOf({ from, to }: Window): Day[] {
  const count = Math.round((utc(to) - utc(from)) / DAY_MS) + 1
  return Array.from({ length: count }, (_, index) => addDays(from, index))
}

/** Returns the date of an instant in the zone. */
export function dayIn(timeZone: string): (instant: string | number) => Day {
  const format = new Intl.DateTimeFormat('en-US-u-ca-gregory-nu-latn', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  })
  return (instant) => {
    const parts = Object.fromEntries(format.formatToParts(new Date(instant)).map(({ type, value }) => [type, value]))
    return `${parts.year?.padStart(4, '0')}-${parts.month}-${parts.day}`
  }
}

/**
 * Instants that contain the days of the window in every zone, from now on. Undefined if all of them are past. The slots of
 * other days are dropped by `byDay`, so no offset of a zone needs to be known.
 */
export function toRange({ from, to }: Window, nowMs: number): { start: string; end: string } | undefined {
  const start = Math.max(utc(from) - MAX_OFFSET_MS, nowMs)
  const end = utc(to) + DAY_MS + MAX_OFFSET_MS
  return start < end ? { start: new Date(start).toISOString(), end: new Date(end).toISOString() } : undefined
}

/** The slots of the days of the window, by day, in their order. */
export function byDay(slots: readonly Slot[], window: Window, timeZone: string): Map<Day, Slot[]> {
  const days = new Map<Day, Slot[]>()
  const find = dayIn(timeZone)
  for (const slot of [...slots].sort((left, right) => Date.parse(left.start) - Date.parse(right.start))) {
    const day = find(slot.start)
    if (day < window.from || day > window.to) continue
    const list = days.get(day)
    if (list === undefined) days.set(day, [slot])
    else list.push(slot)
  }
  return days
}

/** IANA names, each once and in order. `also` are added, in case the browser lists other names. */
export function zoneNames(names: readonly string[], also: readonly string[]): string[] {
  return [...new Set([...names, ...also])].sort()
}
