import { DAY_MS, formatDay, formatLocal, parseDay, parseLocal } from '../../platform/calendar/days.ts'
import { findZone } from '../../platform/calendar/zone.ts'
import type { RemoteEvent, TimeRange } from './calendar.ts'

const HOUR_MS = 3_600_000
/** Limits one placeholder. The latest instances are kept: nobody books the past. */
const MAX_INSTANCES = 1000

type PlaceholderTimes = Pick<RemoteEvent, 'start' | 'end' | 'recurrence'>

/** The zones furthest from UTC, to the east and to the west. */
const EAST_MS = 14 * HOUR_MS
const WEST_MS = 12 * HOUR_MS

/** Whether an instance in UTC may be all-day: Graph returns days from midnight to midnight in UTC. */
export function mayBeDays({ from, to }: TimeRange): boolean {
  return to > from && from % DAY_MS === 0 && to % DAY_MS === 0
}

/**
 * Covers an instance of which nobody knows whether it is all-day: it is busy as a time in UTC and as days in the zone of the calendar. Null:
 * the zone is not known either, so that the days may be anywhere.
 */
export function daysOrTimes(range: TimeRange, calendarZone: string | null): TimeRange {
  if (!mayBeDays(range)) return range
  const { from, to } = range
  const zone = findZone(calendarZone ?? '')
  if (zone === undefined) return { from: from - EAST_MS, to: to + WEST_MS }
  return { from: Math.min(from, zone.toUtc(from)), to: Math.max(to, zone.toUtc(to)) }
}

/** The times of a placeholder with these instances: dates when they are all-day, otherwise periods in UTC. Undefined without instances. */
export function placeholderTimes(instances: readonly TimeRange[], isAllDay: boolean): PlaceholderTimes | undefined {
  const ends = new Map<number, number>()
  for (const { from, to } of instances) ends.set(from, Math.max(to, ends.get(from) ?? to))
  const sorted = [...ends].sort(([one], [other]) => one - other).slice(-MAX_INSTANCES)
  const [first] = sorted
  if (first === undefined) return undefined
  const [startMs, endMs] = first
  if (!isAllDay) {
    const periods = sorted.map(([from, to]) => `${utcText(from)}/${utcText(to)}`)
    return { start: utcTime(startMs), end: utcTime(endMs), recurrence: [`RDATE;VALUE=PERIOD:${periods.join(',')}`] }
  }
  const longestMs = Math.max(...sorted.map(([from, to]) => to - from))
  return {
    start: { date: formatDay(startMs / DAY_MS) },
    end: { date: formatDay((startMs + longestMs) / DAY_MS) },
    recurrence: [`RDATE;VALUE=DATE:${sorted.map(([from]) => utcText(from).slice(0, 8)).join(',')}`],
  }
}

/** The instances from which `placeholderTimes` made the times. Values without an end last as long as the event. */
export function placeholderInstances({ start, end, recurrence }: PlaceholderTimes): TimeRange[] {
  const lengthMs = utcMs(end) - utcMs(start)
  return recurrence.flatMap((line) =>
    line
      .slice(line.indexOf(':') + 1)
      .split(',')
      .flatMap((value) => {
        const [from, to] = value.split('/').map(parseMs)
        return from === undefined ? [] : [{ from, to: to ?? from + lengthMs }]
      }),
  )
}

function utcMs(time: RemoteEvent['start']): number {
  return 'date' in time ? (parseDay(time.date) ?? 0) * DAY_MS : (parseLocal(time.dateTime) ?? 0)
}

function parseMs(value: string): number | undefined {
  const day = parseDay(value)
  return day === undefined ? parseLocal(value.replace(/Z$/, '')) : day * DAY_MS
}

function utcTime(ms: number) {
  return { dateTime: formatLocal(ms), timeZone: 'UTC' }
}

function utcText(ms: number): string {
  return `${formatLocal(ms).replace(/[-:]/g, '')}Z`
}
