import { DAY_MS, formatDay, parseDay, parseLocal } from '../../platform/calendar/days.ts'
import { findZone, storedZone, UTC, type Zone } from '../../platform/calendar/zone.ts'
import { ianaZone } from '../../platform/calendar/zone-names.ts'
import type { EventTime } from '../../providers/contract/index.ts'

/** The start that identifies an instance in its series: the date of an all-day event, otherwise UTC in milliseconds. */
export type OriginalStart = string | number

/** A time of an event with the zone in which it is read: its own, or else that of the calendar, or else UTC. */
export interface PlacedTime {
  isDate: boolean
  /** A wall clock in milliseconds, as if it were UTC. */
  localMs: number
  zone: Zone
}

export function zoneNamed(name: string | null | undefined): Zone | undefined {
  if (typeof name !== 'string') return undefined
  const zone = storedZone(name)
  if (zone !== undefined) return zone
  const iana = ianaZone(name)
  return iana === undefined ? undefined : findZone(iana)
}

/** A time that is not one is the start of 1970: providers return valid times only. */
export function placedTime(time: EventTime, calendarZone: string | null): PlacedTime {
  if ('date' in time) {
    const day = parseDay(time.date) ?? 0
    return { isDate: true, localMs: day * DAY_MS, zone: zoneNamed(time.timeZone) ?? zoneNamed(calendarZone) ?? UTC }
  }
  const zone = zoneNamed(time.timeZone) ?? zoneNamed(calendarZone) ?? UTC
  return { isDate: false, localMs: parseLocal(time.dateTime) ?? 0, zone }
}

/** Whether nobody says where a time is: it is then read in UTC, until somebody does. */
export function isFloating(time: EventTime, calendarZone: string | null): boolean {
  return zoneNamed(time.timeZone) === undefined && zoneNamed(calendarZone) === undefined
}

/** Start and end of a single event or an exception, in UTC. */
export function eventSpan(
  { start, end }: { start: EventTime; end: EventTime },
  calendarZone: string | null,
): { startMs: number; endMs: number } {
  const from = placedTime(start, calendarZone)
  const startMs = from.zone.toUtc(from.localMs)
  return { startMs, endMs: measureLength(from, placedTime(end, calendarZone)).instanceEnd(from.localMs, startMs) }
}

/** The identity of the instance that would have started at this time. */
export function toOriginalStart(time: EventTime, calendarZone: string | null): OriginalStart {
  const { isDate, localMs, zone } = placedTime(time, calendarZone)
  return isDate ? formatDay(localMs / DAY_MS) : zone.toUtc(localMs)
}

/**
 * RFC 5545, section 3.8.5.3: an all-day event has the same number of days each time, and an event with times lasts equally
 * long, also where clocks change in between, unless its duration is in days. `longestMs` is the most that it may last in any zone.
 */
export function measureLength(start: PlacedTime, end: PlacedTime, durationDays = 0) {
  if (start.isDate) {
    const days = Math.max(1, Math.floor(end.localMs / DAY_MS) - Math.floor(start.localMs / DAY_MS))
    return {
      longestMs: (days + 1) * DAY_MS,
      instanceEnd: (localMs: number) => start.zone.toUtc(localMs + days * DAY_MS),
    }
  }
  const daysMs = durationDays * DAY_MS
  const lastsMs = Math.max(0, end.zone.toUtc(end.localMs) - start.zone.toUtc(start.localMs + daysMs))
  if (durationDays > 0) {
    const instanceEnd = (localMs: number) => start.zone.toUtc(localMs + daysMs) + lastsMs
    return { longestMs: daysMs + DAY_MS + lastsMs, instanceEnd }
  }
  return { longestMs: lastsMs, instanceEnd: (_localMs: number, startMs: number) => startMs + lastsMs }
}

/**
 * The day of a date, or of a time in the calendar of an all-day event. Programs that write a time in UTC mean midnight where the event takes
 * place, or midnight in UTC.
 */
export function dayIn(event: PlacedTime, { isDate, localMs, zone }: PlacedTime): number {
  if (isDate) return Math.floor(localMs / DAY_MS)
  const ownMs = event.zone.toLocal(zone.toUtc(localMs))
  const isMidnightOfUtc = zone === UTC && localMs % DAY_MS === 0 && ownMs % DAY_MS !== 0
  return Math.floor((isMidnightOfUtc ? localMs : ownMs) / DAY_MS)
}

/** Where a date or time is on the wall clock of a series. A date without time has the time of the series. */
export function localIn(series: PlacedTime, date: PlacedTime): number {
  if (series.isDate) return dayIn(series, date) * DAY_MS
  const day = Math.floor(date.localMs / DAY_MS) * DAY_MS
  if (date.isDate) return day + (series.localMs - Math.floor(series.localMs / DAY_MS) * DAY_MS)
  return date.zone === series.zone ? date.localMs : series.zone.toLocal(date.zone.toUtc(date.localMs))
}
