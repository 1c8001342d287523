import { DAY_MS, formatDay, parseDay, parseLocal } from '../../../lib/calendar/days.ts'
import { storedZone, UTC, type Zone, zoneOf } from '../../../lib/calendar/zone.ts'
import { ianaZone } from '../../../lib/calendar/zone-names.ts'
import type { EventTime } from '../../../providers/contract/index.ts'

/** What identifies an instance in its series: the date of an all-day event, otherwise UTC in milliseconds. */
export type OriginalStart = string | number

/** A time of an event with the zone in which it is read. Floating times and dates are read in the zone of the calendar. */
export interface PlacedTime {
  isDate: boolean
  /** A wall clock in milliseconds, as if it were UTC. */
  localMs: number
  zone: Zone
}

export function zoneNamed(name: string | null | undefined): Zone | undefined {
  if (typeof name !== 'string') return undefined
  const known = storedZone(name)
  if (known !== undefined) return known
  const iana = ianaZone(name)
  return iana === undefined ? undefined : zoneOf(iana)
}

/** A time that is not one is the start of 1970: providers return valid times only. */
export function placedTime(time: EventTime, calendarZone: string | null): PlacedTime {
  if ('date' in time) {
    const day = parseDay(time.date) ?? 0
    return { isDate: true, localMs: day * DAY_MS, zone: zoneNamed(calendarZone) ?? UTC }
  }
  const zone = zoneNamed(time.timeZone) ?? zoneNamed(calendarZone) ?? UTC
  return { isDate: false, localMs: parseLocal(time.dateTime) ?? 0, zone }
}

/** Start and end of a single event or an exception, in UTC. */
export function spanOf(
  { start, end }: { start: EventTime; end: EventTime },
  calendarZone: string | null,
): { startMs: number; endMs: number } {
  const from = placedTime(start, calendarZone)
  const startMs = from.zone.toUtc(from.localMs)
  return { startMs, endMs: lengthOf(from, placedTime(end, calendarZone)).endOf(from.localMs, startMs) }
}

/** The identity of the instance that would have started at this time. */
export function originalStartOf(time: EventTime, calendarZone: string | null): OriginalStart {
  const { isDate, localMs, zone } = placedTime(time, calendarZone)
  return isDate ? formatDay(localMs / DAY_MS) : zone.toUtc(localMs)
}

/**
 * RFC 5545, section 3.8.5.3: an all-day event has the same number of days each time, and an event with times lasts equally
 * long, also where clocks change in between. `longestMs` is the most that it may last in any zone.
 */
export function lengthOf(start: PlacedTime, end: PlacedTime) {
  if (start.isDate) {
    const days = Math.max(1, Math.floor(end.localMs / DAY_MS) - Math.floor(start.localMs / DAY_MS))
    return {
      longestMs: (days + 1) * DAY_MS,
      endOf: (localMs: number) => start.zone.toUtc(localMs + days * DAY_MS),
    }
  }
  const lastsMs = Math.max(0, end.zone.toUtc(end.localMs) - start.zone.toUtc(start.localMs))
  return { longestMs: lastsMs, endOf: (_localMs: number, startMs: number) => startMs + lastsMs }
}
