import { civilDate, DAY_MS, parseDay, weekdayOf } from '../../../platform/calendar/days.ts'
import type { Zone } from '../../../platform/calendar/zone.ts'
import type { TimeRange } from '../../../providers/contract/index.ts'
import type { OpenHours } from '../../experiences/experience.ts'
import { type Rules, zoneNamed } from '../slot-rules.ts'

/** Open hours without a gap between them, in instants. */
interface OpenTime extends TimeRange {
  /** Where open hours begin, in order. A grid of slots starts at each, and ends at the next. */
  begins: number[]
}

type Edge = 'start' | 'end'
type Hours = Pick<OpenHours, 'start' | 'end'>

const MINUTE_MS = 60_000
/** 0 is Monday, as in `weekdayOf`. */
const WEEKDAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']

/**
 * The open hours that overlap the range. Those of each date become instants by themselves: an edge that a clock change skips is the
 * first instant after it; of a time that occurs twice, a start is the earlier and an end the later instant. Hours belong to the date
 * on which they start: an override of the next date does not end them.
 */
export function openTimes({ availability, zone }: Pick<Rules, 'availability' | 'zone'>, range: TimeRange): OpenTime[] {
  const { openHours = [], overrides = [] } = availability
  const calendars = new Map<Zone, ZoneDates>()
  const cachedDates = (zone: Zone) => {
    const dates = calendars.get(zone) ?? zoneDates(zone, range)
    calendars.set(zone, dates)
    return dates
  }
  const found: TimeRange[] = []
  const overridden = new Set<number>()
  const own = cachedDates(zone)
  for (const { date, start, end, closed } of overrides) {
    const day = parseDay(date)
    if (day === undefined) continue
    overridden.add(day)
    if (closed === true || start === undefined || end === undefined) continue
    if (day >= own.firstDay && day <= own.lastDay) found.push(own.hoursOn(day, { start, end }))
  }
  for (const hours of openHours) {
    const { firstDay, lastDay, hoursOn } = hours.timezone === undefined ? own : cachedDates(zoneNamed(hours.timezone))
    const weekdays = new Set(hours.days.map(weekdayNamed))
    for (let day = firstDay; day <= lastDay; day += 1) {
      if (weekdays.has(weekdayOf(day)) && !overridden.has(day)) found.push(hoursOn(day, hours))
    }
  }
  // Joined first: also hours that have ended may begin the grid of a time that goes on.
  return joined(found).filter(({ from, to }) => from < range.to && to > range.from)
}

/** The dates of a zone on which hours may start that overlap the range. */
interface ZoneDates {
  firstDay: number
  lastDay: number
  hoursOn(day: number, hours: Hours): TimeRange
}

function zoneDates(zone: Zone, range: TimeRange): ZoneDates {
  const local = zone.localRange(range.from, range.to)
  // Hours end on the next date at the latest, which a clock change may prolong.
  const firstDay = Math.floor(local.from / DAY_MS) - 2
  const lastDay = Math.floor(local.to / DAY_MS)
  const changes = zone.changes(civilDate(firstDay).year - 1, civilDate(lastDay + 1).year + 1)

  function toInstant(localMs: number, edge: Edge): number {
    for (const { atMs, beforeMs, afterMs } of changes) {
      const [before, after] = [atMs + beforeMs, atMs + afterMs]
      if (localMs >= before && localMs < after) return atMs
      if (localMs >= after && localMs < before) return localMs - (edge === 'start' ? beforeMs : afterMs)
    }
    return zone.toUtc(localMs)
  }

  return {
    firstDay,
    lastDay,
    hoursOn(day, hours) {
      const [start, end] = [parseClock(hours.start), parseClock(hours.end)]
      const dayMs = day * DAY_MS
      const endMs = end > start ? dayMs + end : dayMs + DAY_MS + end
      return { from: toInstant(dayMs + start, 'start'), to: toInstant(endMs, 'end') }
    },
  }
}

function joined(ranges: TimeRange[]): OpenTime[] {
  const times: OpenTime[] = []
  for (const { from, to } of ranges.sort((one, other) => one.from - other.from)) {
    // A clock change may skip all of them.
    if (to <= from) continue
    const last = times.at(-1)
    if (last === undefined || from > last.to) {
      times.push({ from, to, begins: [from] })
      continue
    }
    last.to = Math.max(last.to, to)
    if (from > (last.begins.at(-1) ?? 0)) last.begins.push(from)
  }
  return times
}

/** Milliseconds of `HH:MM`. */
function parseClock(text: string): number {
  const [hours = 0, minutes = 0] = text.split(':').map(Number)
  return (hours * 60 + minutes) * MINUTE_MS
}

/** In an experience 0 is Sunday. */
function weekdayNamed(day: number | string): number {
  return typeof day === 'number' ? (day + 6) % 7 : WEEKDAYS.indexOf(day.toLowerCase())
}
