import { DAY_MS, formatDay, formatLocal, parseDay, parseLocal } from '../../platform/calendar/days.ts'
import type { Zone } from '../../platform/calendar/zone.ts'
import type { EventTime } from './calendar.ts'

/**
 * A point in time as a local time of `zone`. The second of two equal local times, when clocks are set back, is given in UTC,
 * because readers take the first.
 */
export function zonedTime(ms: number, zone: Zone): EventTime {
  const localMs = zone.toLocal(ms)
  const isFirst = zone.toUtc(localMs) === ms
  return isFirst
    ? { dateTime: formatLocal(localMs), timeZone: zone.name }
    : { dateTime: formatLocal(ms), timeZone: 'UTC' }
}

/** Assumes that an event whose end cannot be read lasts a day, or an hour. Without a length it would be free. */
export function assumedEnd(start: EventTime): EventTime {
  if ('date' in start) return { ...start, date: formatDay((parseDay(start.date) ?? 0) + 1) }
  return { ...start, dateTime: formatLocal((parseLocal(start.dateTime) ?? 0) + DAY_MS / 24) }
}
